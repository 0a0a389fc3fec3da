import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { registry } from '../../main/host/services/registry.ts';

/** Reason why a change of a setting may restart its service: it changes an address or a key. */
type Reason = 'port' | 'address' | 'key';

/** Settings that restart their service, with the reason. A new one needs a reason, or takes effect live. */
const restarting: Readonly<Record<string, Readonly<Record<string, Reason>>>> = {
  addons: {
    secretKey: 'key',
    pikpakClientId: 'key',
    pikpakClientSecret: 'key',
    metadataUrl: 'address',
    tmdbUrl: 'address',
    seadexUrl: 'address',
    animeMappingUrl: 'address',
    pikpakAuthUrl: 'address',
    realdebridUrl: 'address',
    alldebridUrl: 'address',
    premiumizeUrl: 'address',
    debridlinkUrl: 'address',
    putioUrl: 'address',
    easynewsUrl: 'address',
    pikpakUrl: 'address',
    torboxUrl: 'address',
  },
  downloads: {
    urlPrefix: 'address',
    publicUrl: 'address',
    publicAudioUrl: 'address',
    https: 'key',
    certFile: 'key',
    keyFile: 'key',
    // Location of unfinished files: running downloads finish in the former one.
    tempDir: 'address',
  },
  mail: { topicDomain: 'address', hostName: 'address', tls: 'key', certificateFile: 'key', keyFile: 'key' },
  git: { metricsToken: 'key', gitPath: 'address', repositoriesFolder: 'address' },
  data: {
    jwtSecret: 'key',
    anonKey: 'key',
    serviceKey: 'key',
    databaseUrl: 'address',
    directPort: 'port',
    directPassword: 'key',
  },
  gateway: { name: 'address' },
};

const isLive = (field: unknown): boolean => field instanceof z.ZodType && field.meta()?.['live'] === true;

describe.each(registry.map((service) => [service.id, service] as const))('settings of %s', (id, { settings }) => {
  it('does not restart unless a setting changes a port, an address or a key', () => {
    const listedFields = new Set(Object.keys(restarting[id] ?? {}));
    const notLive = Object.entries(settings.shape).filter(([, field]) => !isLive(field));
    expect(notLive.map(([name]) => name).filter((name) => !listedFields.has(name))).toEqual([]);
  });

  it('has only existing settings that are not live in the list of restarts', () => {
    const shape: Readonly<Record<string, unknown>> = settings.shape;
    for (const name of Object.keys(restarting[id] ?? {}))
      expect([name, shape[name] !== undefined && !isLive(shape[name])]).toEqual([name, true]);
  });
});
