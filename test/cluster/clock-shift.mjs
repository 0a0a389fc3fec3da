// Loaded before the program (`node --import`): shifts its clock by CLOCK_SHIFT_MS, as on a computer whose clock is wrong.
// The monotonic clock and timers are unchanged, as on such a computer.
const shiftMs = Number(process.env.CLOCK_SHIFT_MS);
const Actual = globalThis.Date;

globalThis.Date = class Date extends Actual {
  constructor(...values) {
    if (values.length === 0) super(Actual.now() + shiftMs);
    else super(...values);
  }

  static now() {
    return Actual.now() + shiftMs;
  }
};
