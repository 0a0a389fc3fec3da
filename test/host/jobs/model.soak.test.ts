import { describeModel } from './model/run.ts';

// The same programs for every change in CI; random ones for exploratory runs. A failure prints the seed that
// reproduces it: `HOMEPORT_MODEL_SEED=5 npx vitest run --project=soak test/host/jobs/model.soak.test.ts`.
const seed = process.env['HOMEPORT_MODEL_SEED'] ?? (process.env['CI'] === undefined ? undefined : '24');

describeModel({
  ...(seed === undefined ? {} : { seed: Number(seed) }),
  programs: { sqlite: 300, postgres: 40 },
  killed: { sqlite: 60, postgres: 20 },
  steps: 80,
});
