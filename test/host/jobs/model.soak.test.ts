import { describeModel } from './model/run.ts';

describeModel({
  programs: { sqlite: 300, postgres: 40 },
  killed: { sqlite: 60, postgres: 20 },
  steps: 80,
});
