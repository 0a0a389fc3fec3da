import { afterAll, expect, it } from 'vitest';
import { PatternMatcher } from '../../../services/addons/aggregate/patterns.ts';
import { readConfig } from '../../../services/addons/domain/read-config.ts';
import { readStreams } from '../../../services/addons/domain/read-stream.ts';
import { parseRelease } from '../../../services/addons/domain/release.ts';
import { createCachedReleaseParser } from '../../../services/addons/domain/release-cache.ts';
import { buildAddon } from '../../../services/addons/upstream/addon.ts';
import { Sandbox } from '../../../services/addons/sandbox/sandbox.ts';
import { systemTimer } from '../../../services/kit/system-timer.ts';
import { silentLog } from '../../support/database-location.ts';
import { buildConfig } from './rig.ts';

const sandbox = new Sandbox({ clock: systemTimer, log: silentLog });
afterAll(() => sandbox[Symbol.asyncDispose]());

const config = readConfig(buildConfig([], { includedRegexPatterns: ['x264'] }));
const addon = buildAddon(
  { type: 'custom', instanceId: 'u', enabled: true, options: {} },
  { name: 'Up', manifestUrl: 'http://a.example/manifest.json', suffix: '', trust: 'owner' },
  0,
  1000,
);
const streams = readStreams(
  [{ url: 'http://h.example/1', title: 'A.2019.1080p.x264.mkv' }],
  addon.stream,
  createCachedReleaseParser(10) ?? parseRelease,
);
const uuid = `${'a'.repeat(35)}!`;

it.each([
  ['all', uuid, true],
  ['none', uuid, false],
  ['trusted', uuid, false],
  ['^a+!$', uuid, true],
  ['^a+!$', undefined, false],
  ['a/b|!', uuid, true],
  ['A', uuid, false],
  ['', uuid, true],
  ['(', uuid, false],
  // Would need 2^35 steps in the process of the host.
  ['^(a|a)*$', uuid, false],
])('evaluates the access setting %j for the configuration %j: %s', async (access, id, isAllowed) => {
  const result = await new PatternMatcher(sandbox, () => access).match(config, streams.streams, {
    uuid: id,
    trusted: false,
  });
  expect(result.matches?.[0]?.included).toBe(isAllowed ? 'x264' : undefined);
});
