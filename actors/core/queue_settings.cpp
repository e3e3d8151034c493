#include "tidegate/queue_settings.hpp"

namespace tidegate {

queue_settings apply(queue_settings settings,
                     const queue_settings_patch& patch) {
  auto set = [](auto& field, const auto& change) {
    if (change)
      field = *change;
  };
  set(settings.webhook_url, patch.webhook_url);
  set(settings.concurrency, patch.concurrency);
  set(settings.rate_limit_max, patch.rate_limit_max);
  set(settings.rate_limit_window, patch.rate_limit_window);
  set(settings.max_attempts, patch.max_attempts);
  set(settings.max_defers, patch.max_defers);
  set(settings.backoff, patch.backoff);
  set(settings.timeout, patch.timeout);
  set(settings.lifetime, patch.lifetime);
  set(settings.headers, patch.headers);
  return settings;
}

} // namespace tidegate
