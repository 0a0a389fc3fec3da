import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { registry } from '../../main/host/services/registry.ts';

/** Why a change of a setting may restart its service: it changes where the service is reached, or a key. */
type Reason = 'port' | 'address' | 'key';

/** Settings that restart their service, with the reason. A new one needs a reason, or takes effect live. */
const restarting: Readonly<Record<string, Readonly<Record<string, Reason>>>> = {
  downloads: {
    urlPrefix: 'address',
    publicUrl: 'address',
    publicAudioUrl: 'address',
    https: 'key',
    certFile: 'key',
    keyFile: 'key',
    // The place of unfinished files: what runs finishes in the former one first.
    tempDir: 'address',
  },
};

/** Settings that are not live yet and have no such reason. Remove what becomes live; nothing may be added. */
const toConvert: Readonly<Record<string, readonly string[]>> = {
  addons: [
    'addonName',
    'addonId',
    'baseUrl',
    'secretKey',
    'addonPassword',
    'regexFilterAccess',
    'disableSelfScraping',
    'allowPrivateAddresses',
    'maxAddons',
    'timeout',
    'deadline',
    'maxCacheSize',
    'streamCacheSeconds',
    'disableRateLimits',
    'metadataUrl',
    'tmdbUrl',
    'seadexUrl',
    'animeMappingUrl',
    'logSensitiveInfo',
    'pikpakAuthUrl',
    'pikpakClientId',
    'pikpakClientSecret',
    'realdebridApiKey',
    'realdebridUrl',
    'alldebridApiKey',
    'alldebridUrl',
    'premiumizeApiKey',
    'premiumizeUrl',
    'debridlinkApiKey',
    'debridlinkUrl',
    'putioClientId',
    'putioToken',
    'putioApiKey',
    'putioUrl',
    'easynewsUsername',
    'easynewsPassword',
    'easynewsApiKey',
    'easynewsUrl',
    'pikpakEmail',
    'pikpakPassword',
    'pikpakApiKey',
    'pikpakUrl',
    'torboxApiKey',
    'torboxUrl',
  ],
  notify: ['allowServices', 'denyServices', 'redirects'],
  push: [
    'keepaliveInterval',
    'keepInInbox',
    'reservedTopics',
    'webPush',
    'webPushContact',
    'webPushHosts',
    'limitExempt',
    'requestLimitBurst',
    'requestLimitReplenish',
    'subscriberRateLimiting',
    'prefixBitsIpv4',
    'prefixBitsIpv6',
    'topicLimitBurst',
    'topicLimitReplenish',
    'totalTopicLimit',
    'behindProxy',
    'baseUrl',
    'unifiedPush',
    'upstreamBaseUrl',
    'upstreamAccessToken',
    'smtpSenderAddr',
    'smtpSenderFrom',
    'smtpSenderUser',
    'smtpSenderPass',
    'smtpSenderMode',
    'emailLimitBurst',
    'emailLimitReplenish',
  ],
  uptime: [
    'notifyUrl',
    'notifyTag',
    'certificateDays',
    'keepDays',
    'publicUrl',
    'subscriberMail',
    'connectivityAddress',
    'monitors',
    'statusPages',
    'maintenances',
  ],
  mail: [
    'topicDomain',
    'topicPrefix',
    'clients',
    'signIn',
    'logins',
    'tls',
    'certificateFile',
    'keyFile',
    'hostName',
    'maxClients',
    'idleSeconds',
  ],
  git: [
    'requireSignIn',
    'defaultPrivate',
    'defaultBranch',
    'createOnPush',
    'publicUrl',
    'sshHost',
    'maxPushMegabytes',
    'lfsQuotaMegabytes',
    'migrateFromLocalNetwork',
    'hooksToLocalNetwork',
    'noticeBranches',
    'metricsToken',
    'gitPath',
  ],
  data: [
    'jwtSecret',
    'anonKey',
    'serviceKey',
    'autoconfirm',
    'anonymousSignIns',
    'signUp',
    'siteUrl',
    'externalUrl',
    'redirectUrls',
    'jwtExpiry',
    'smtpHost',
    'smtpPort',
    'smtpUser',
    'smtpPassword',
    'smtpMode',
    'smtpFrom',
    'smtpName',
    'databaseUrl',
    'schemas',
    'maxRows',
    'bodyMebibytes',
    'batchSeconds',
    'aggregates',
    'plans',
    'sleepAfterMinutes',
  ],
  gateway: ['name'],
};

const isLive = (field: unknown): boolean => field instanceof z.ZodType && field.meta()?.['live'] === true;

describe.each(registry.map((service) => [service.id, service] as const))('settings of %s', (id, { settings }) => {
  it('take effect live unless they change a port, an address or a key', () => {
    const known = new Set([...Object.keys(restarting[id] ?? {}), ...(toConvert[id] ?? [])]);
    const notLive = Object.entries(settings.shape).filter(([, field]) => !isLive(field));
    expect(notLive.map(([name]) => name).filter((name) => !known.has(name))).toEqual([]);
  });

  it('that restart it exist and are not live', () => {
    const shape: Readonly<Record<string, unknown>> = settings.shape;
    for (const name of Object.keys(restarting[id] ?? {}))
      expect([name, shape[name] !== undefined && !isLive(shape[name])]).toEqual([name, true]);
  });
});
