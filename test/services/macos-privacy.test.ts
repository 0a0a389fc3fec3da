import * as m from '#messages/macos-hints';
import { afterEach, describe, expect, it } from 'vitest';
import { explainFailure as explainFetchFailure } from '../../main/host/fetch/explain.ts';
import { getLocalNetworkHint } from '../../services/contracts/macos-privacy.ts';
import { explainFailure } from '../../services/contracts/uptime/causes.ts';
import { findExplanation } from '../../services/sync/domain/failure-cause.ts';
import { formatCause } from '../../renderer/src/pages/uptime/monitors/monitor-format.ts';
import { setServerPlatform } from '../../renderer/src/state/server-platform.ts';

const setting = 'System Settings › Privacy & Security › Local Network';

afterEach(() => setServerPlatform(''));

describe('local network of macOS', () => {
  it.each([
    '192.168.1.10',
    '10.0.0.7:443',
    '172.16.0.1',
    '169.254.1.2',
    'fe80::1',
    'fd12:3456::1',
    'nas.local',
    'connect EHOSTUNREACH 192.168.1.5:80',
  ])('names the setting for %s', (address) => {
    expect(getLocalNetworkHint(address, 'darwin')).toContain(setting);
    expect(getLocalNetworkHint(address, 'linux')).toBe('');
  });

  it.each(['203.0.113.1', 'example.com', '172.32.0.1', '8.10.1.1', '2001:db8::1', 'locale.example'])(
    'says nothing of it for %s',
    (address) => expect(getLocalNetworkHint(address, 'darwin')).toBe(''),
  );

  it('explains failed requests of services', () => {
    const error = Object.assign(new Error('x'), { code: 'EHOSTUNREACH', address: '192.168.1.5' });
    const explain = (cause: unknown, platform: NodeJS.Platform) =>
      explainFetchFailure(cause, 'printer', undefined, platform).detail;
    expect(explain(error, 'darwin')).toBe(`${explain(error, 'linux')} ${m.localNetwork()}`);
    expect(explain(new AggregateError([error]), 'darwin')).toContain(setting);
    expect(explain(Object.assign(error, { code: 'ECONNREFUSED' }), 'darwin')).not.toContain(setting);
  });

  it('explains failed checks and syncs', () => {
    const message = 'connect EHOSTUNREACH 192.168.1.5:80';
    expect(explainFailure({ msg: message }, 'darwin')).toContain(setting);
    expect(explainFailure({ msg: message })).not.toContain(setting);
    expect(formatCause({ msg: message })).not.toContain(setting);
    setServerPlatform('darwin');
    expect(formatCause({ msg: message })).toContain(setting);
    const error = 'dial tcp 192.168.1.5:445: connect: no route to host';
    expect(findExplanation({ error, code: '' }, '', 'darwin')).toContain(setting);
    expect(findExplanation({ error, code: '' }, '', 'linux')).not.toContain(setting);
  });
});

describe('protected folders of macOS', () => {
  it('explains them for failed syncs', () => {
    const error = 'open /Users/ada/Documents/x: operation not permitted';
    expect(findExplanation({ error, code: '' }, '', 'darwin')).toContain('Files and Folders');
    expect(findExplanation({ error, code: '' }, '', 'linux')).not.toContain('macOS');
    expect(findExplanation({ error: 'open /x: permission denied', code: '' }, '', 'darwin')).not.toContain('macOS');
  });
});
