// Numbers that look random and come again from the same seed.

/** Returns a function that draws from [0, 1). Says the seed, to be given again. */
export function randomFrom(t) {
  let state = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 32)) >>> 0;
  t.diagnostic(`SEED=${state}`);
  // mulberry32
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
