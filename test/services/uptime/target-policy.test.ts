import type { LookupOptions } from 'node:dns';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { assertAllowedTarget, guardedLookup, setTargetPolicy } from '../../../services/uptime/check/target-policy.ts';
import { localName, resolveLocalName } from '../../support/local-name.ts';

const port = 3001;
const policy = { ownListeners: [`http://127.0.0.1:${String(port)}`], allowLinkLocal: false };
let names: Disposable | undefined;
let elapsedMs = performance.now();
afterEach(() => {
  names?.[Symbol.dispose]();
  vi.restoreAllMocks();
  setTargetPolicy({ ownListeners: [], allowLinkLocal: false });
});

describe('guardedLookup', () => {
  it.each([
    ['127.0.0.1', 'belongs to Homeport'],
    ['::1', 'belongs to Homeport'],
    ['::ffff:127.0.0.1', 'belongs to Homeport'],
    ['64:ff9b::7f00:1', 'belongs to Homeport'],
    ['169.254.169.254', 'link-local or cloud metadata'],
    ['fe80::1', 'link-local or cloud metadata'],
    ['64:ff9b::a9fe:a9fe', 'link-local or cloud metadata'],
  ])('refuses a name that resolves to %s', async (address, reason) => {
    setTargetPolicy(policy);
    // Resolved names are cached for 30 seconds.
    vi.spyOn(performance, 'now').mockReturnValue((elapsedMs += 60_000));
    names = resolveLocalName(address);
    const { promise, resolve } = Promise.withResolvers<Error | null>();
    const options: LookupOptions = { all: true };
    guardedLookup(port, 'exchange')(localName, options, (error) => resolve(error));
    expect((await promise)?.message).toContain(reason);
  });
});

describe('assertAllowedTarget', () => {
  it('allows a public address behind NAT64, and connections to a listener', () => {
    setTargetPolicy(policy);
    expect(() => assertAllowedTarget('64:ff9b::808:808', port, 'exchange')).not.toThrow();
    expect(() => assertAllowedTarget('64:ff9b::7f00:1', port, 'connect')).not.toThrow();
  });
});
