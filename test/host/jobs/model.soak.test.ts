import { describeModel } from './model/run.ts';

// The same programs for every change where a failure stops it; others each time for who looks for faults. A failure prints
// the seed that makes them again: `HOMEPORT_MODEL_SEED=5 npx vitest run --project=soak test/host/jobs/model.soak.test.ts`.
const seed = process.env['HOMEPORT_MODEL_SEED'] ?? (process.env['CI'] === undefined ? undefined : '24');

describeModel({
  ...(seed === undefined ? {} : { seed: Number(seed) }),
  programs: { sqlite: 300, postgres: 40 },
  killed: { sqlite: 60, postgres: 20 },
  steps: 80,
});
