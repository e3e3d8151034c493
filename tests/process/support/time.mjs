import { until as untilWithin } from '../../../examples/tidegate.mjs';

/**
 * How many times longer than usual a test may take, more than 1 where the
 * server was built to run slowly, as under a sanitizer.
 */
export const patience = Number(process.env.TIDEGATE_PATIENCE ?? 1);

/** Calls `probe` until it returns something true, for at most `seconds` as usual. */
export const until = (what, seconds, probe) => untilWithin(what, seconds * patience, probe);
