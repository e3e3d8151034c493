#include "http/request_log.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "http/response_writer.hpp"

namespace tidegate::http {

namespace {

using clock = std::chrono::steady_clock;

/// Returns the id of what was published, by our own answer to it.
std::string made_by(operation what, const response& answer) {
  std::string_view mark;
  if (what == operation::publish)
    mark = R"("id":")";
  else if (what == operation::publish_message)
    mark = R"("message_id":")";
  auto at = mark.empty() || answer.status >= 300 ? std::string::npos
                                                 : answer.body.find(mark);
  if (at == std::string::npos)
    return {};
  auto from = at + mark.size();
  return answer.body.substr(from, answer.body.find('"', from) - from);
}

/// Returns whether a path that was answered like that named something that is
/// there. What strangers put into a path is not for the log.
bool names_something(unsigned status) {
  constexpr std::array unknown = {400u, 404u};
  return std::find(unknown.begin(), unknown.end(), status) == unknown.end();
}

class accounting_sink : public reply_sink {
public:
  accounting_sink(log& out, const request& what, responder answer)
    : out_(out), answer_(std::move(answer)), since_(clock::now()),
      operation_(what.route.route->operation), subject_(what.route.param) {
    account_.id = what.id;
    account_.route = what.route.route->capability;
    account_.project = what.who.project;
    account_.key = what.who.key;
    account_.peer = *what.peer;
  }

  void reply(std::uint64_t, response what) override {
    account_.status = what.status;
    account_.took = std::chrono::duration_cast<duration>(clock::now() - since_);
    account_.made = made_by(operation_, what);
    if (names_something(what.status))
      account_.subject = std::move(subject_);
    out_.write(account_);
    answer_(std::move(what));
  }

private:
  log& out_;
  responder answer_;
  clock::time_point since_;
  operation operation_;
  std::string subject_;
  request_account account_;
};

} // namespace

responder with_line(log& out, const request& what, responder answer) {
  auto family = family_of(what.route.route->path);
  return {std::make_shared<accounting_sink>(out, what, std::move(answer)), 0,
          family};
}

void write_refusal(log& out, const refused_request& what) {
  if (!out.writes(log_severity::debug))
    return;
  request_account account;
  account.id = what.id;
  account.status = what.answer.status;
  account.peer = what.peer;
  account.took = what.took;
  if (what.asked != nullptr) {
    account.route = what.asked->route.route->capability;
    account.project = what.asked->who.project;
    account.key = what.asked->who.key;
  }
  out.write(account);
}

} // namespace tidegate::http
