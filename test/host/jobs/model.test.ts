import { describeModel } from './model/run.ts';

describeModel({
  seed: 24,
  programs: { sqlite: 12, postgres: 3 },
  killed: { sqlite: 3, postgres: 2 },
  steps: 40,
});
