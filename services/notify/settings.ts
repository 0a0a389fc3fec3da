import * as m from '#messages/notify-settings';
import { z } from 'zod';

export const Settings = z.object({
  requireSignIn: z.boolean().default(false).meta({
    live: true,
    label: m.requireSignIn,
    help: m.requireSignInHelp,
  }),
  trustLocalPrograms: z.boolean().default(true).meta({
    live: true,
    label: m.trustLocalPrograms,
    help: m.trustLocalProgramsHelp,
  }),
  answerMs: z.int().min(0).max(30_000).default(2000).meta({
    live: true,
    unit: 'ms',
    label: m.answerMs,
    help: m.answerMsHelp,
  }),
  configurationLock: z.boolean().default(false).meta({
    live: true,
    label: m.configurationLock,
    help: m.configurationLockHelp,
  }),
  closeKeys: z.boolean().default(false).meta({
    live: true,
    label: m.closeKeys,
    help: m.closeKeysHelp,
  }),
  recursionLimit: z.int().min(0).max(100).default(1).meta({
    live: true,
    label: m.recursionLimit,
    help: m.recursionLimitHelp,
  }),
  statelessUrls: z.string().max(16_384).default('').meta({
    live: true,
    label: m.statelessUrls,
    help: m.statelessUrlsHelp,
    secret: true,
  }),
  resultsUrl: z.string().max(2048).default('').meta({
    live: true,
    label: m.resultsUrl,
    help: m.resultsUrlHelp,
    secret: true,
  }),
  maxAttachments: z.int().min(0).max(100).default(6).meta({
    live: true,
    label: m.maxAttachments,
    help: m.maxAttachmentsHelp,
  }),
  attachmentBytes: z
    .int()
    .min(1)
    .default(200 * 1024 * 1024)
    .meta({
      live: true,
      unit: 'bytes',
      smallUnit: 1024 * 1024,
      label: m.attachmentBytes,
      help: m.attachmentBytesHelp,
    }),
  keptFilesBytes: z
    .int()
    .min(0)
    .default(100 * 1024 * 1024)
    .meta({
      live: true,
      unit: 'bytes',
      label: m.keptFilesBytes,
      help: m.keptFilesBytesHelp,
    }),
  attachmentHosts: z.array(z.string().max(255)).max(100).default([]).meta({
    live: true,
    label: m.attachmentHosts,
    help: m.attachmentHostsHelp,
  }),
  attachmentAllow: z.array(z.string().max(2048)).max(200).default(['*']).meta({
    live: true,
    emptyIsSet: true,
    label: m.attachmentAllow,
    help: m.attachmentAllowHelp,
  }),
  attachmentDeny: z.array(z.string().max(2048)).max(200).default([]).meta({
    live: true,
    label: m.attachmentDeny,
    help: m.attachmentDenyHelp,
  }),
  allowServices: z.array(z.string().max(255)).max(500).default([]).meta({
    live: true,
    label: m.allowServices,
    help: m.allowServicesHelp,
  }),
  denyServices: z.array(z.string().max(255)).max(500).default([]).meta({
    live: true,
    label: m.denyServices,
    help: m.denyServicesHelp,
  }),
  redirects: z.boolean().default(true).meta({
    live: true,
    label: m.redirects,
    help: m.redirectsHelp,
  }),
  mappingDepth: z.int().min(1).max(50).default(5).meta({
    live: true,
    label: m.mappingDepth,
    help: m.mappingDepthHelp,
  }),
  configurationBytes: z
    .int()
    .min(1)
    .max(16 * 1024 * 1024)
    .default(512 * 1024)
    .meta({
      live: true,
      unit: 'bytes',
      smallUnit: 1024,
      label: m.configurationBytes,
      help: m.configurationBytesHelp,
    }),
  statefulMode: z
    .enum(['hash', 'simple', 'disabled'])
    .default('hash')
    .meta({
      live: true,
      label: m.statefulMode,
      help: m.statefulModeHelp,
      choices: { hash: m.statefulModeHash, simple: m.statefulModeSimple, disabled: m.statefulModeDisabled },
    }),
  listKeys: z.boolean().default(false).meta({
    live: true,
    label: m.listKeys,
    help: m.listKeysHelp,
  }),
  emojis: z
    .enum(['asked', 'yes', 'no'])
    .default('asked')
    .meta({
      live: true,
      label: m.emojis,
      help: m.emojisHelp,
      choices: {
        asked: m.emojisAsked,
        yes: m.emojisYes,
        no: m.emojisNo,
      },
    }),
  apiOnly: z.boolean().default(false).meta({
    live: true,
    label: m.apiOnly,
    help: m.apiOnlyHelp,
  }),
  maxWaiting: z.int().min(1).default(100_000).meta({
    live: true,
    label: m.maxWaiting,
    help: m.maxWaitingHelp,
  }),
  historyDays: z.int().min(1).max(3650).default(30).meta({
    live: true,
    unit: 'days',
    label: m.historyDays,
    help: m.historyDaysHelp,
  }),
});
export type Settings = z.infer<typeof Settings>;

/** Returns the maximum size of a file in bytes. */
export function getMaxFileBytes({ attachmentBytes }: Pick<Settings, 'attachmentBytes'>): number {
  return attachmentBytes < 10_000 ? attachmentBytes * 1024 * 1024 : attachmentBytes;
}

/** Returns the maximum size of a configuration in bytes. */
export function getMaxConfigurationBytes({ configurationBytes }: Pick<Settings, 'configurationBytes'>): number {
  return configurationBytes < 10_000 ? configurationBytes * 1024 : configurationBytes;
}
