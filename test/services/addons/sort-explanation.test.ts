import { expect, it } from 'vitest';
import { readConfig } from '../../../services/addons/domain/read-config.ts';
import { getSampleStream } from '../../../services/addons/domain/sample-stream.ts';
import { explainPosition } from '../../../services/addons/aggregate/sort-explanation.ts';
import { buildConfig } from './rig.ts';

it.each([
  [60_000_000_000, '60 GB'],
  [1_540_000_000, '1.5 GB'],
  [20_400_000, '20 MB'],
  [undefined, 'unknown size'],
])('explains the position of a stream of %s bytes by its %s', (size, expectedReason) => {
  const config = readConfig(buildConfig([], { sortCriteria: { global: [{ key: 'size', direction: 'desc' }] } }));
  expect(explainPosition({ ...getSampleStream(), size }, config)).toBe(expectedReason);
});
