import { describeModel } from './model/run.ts';

describeModel({
  // The same programs for every change where a failure stops it; others each time for who looks for faults: a failure
  // prints the seed that makes them again.
  ...(process.env['CI'] === undefined ? {} : { seed: 24 }),
  programs: { sqlite: 300, postgres: 40 },
  killed: { sqlite: 60, postgres: 20 },
  steps: 80,
});
