import * as m from '#messages/git-settings';
import { z } from 'zod';
import { pathSetting } from '../kit/platform/path-setting.ts';
import { isNewBranchName, isReferenceName } from './domain/names.ts';

/** Section `services.git` of the settings. */
export const Settings = z.object({
  requireSignIn: z.boolean().default(false).meta({
    live: true,
    label: m.requireSignIn,
    help: m.requireSignInHelp,
  }),
  defaultPrivate: z.boolean().default(false).meta({
    live: true,
    label: m.defaultPrivate,
    help: m.defaultPrivateHelp,
  }),
  defaultBranch: z
    .string()
    .refine(isNewBranchName, { error: m.defaultBranchInvalid })
    .default('main')
    .meta({ live: true, label: m.defaultBranch, help: m.defaultBranchHelp }),
  createOnPush: z.boolean().default(false).meta({
    live: true,
    label: m.createOnPush,
    help: m.createOnPushHelp,
  }),
  publicUrl: z
    .string()
    .max(2000)
    .regex(/^(https?:\/\/[^\s?#]+)?$/, { error: m.publicUrlInvalid })
    .default('')
    .meta({
      live: true,
      label: m.publicUrl,
      help: m.publicUrlHelp,
    }),
  sshHost: z
    .string()
    .regex(/^[A-Za-z0-9.:-]{0,253}$/, { error: m.sshHostInvalid })
    .default('')
    .meta({
      live: true,
      label: m.sshHost,
      help: m.sshHostHelp,
    }),
  maxPushMegabytes: z.int().min(0).max(1_048_576).default(0).meta({
    live: true,
    unit: 'MiB',
    label: m.maxPushMegabytes,
    help: m.maxPushMegabytesHelp,
  }),
  lfsQuotaMegabytes: z.int().min(0).max(1_073_741_824).default(0).meta({
    live: true,
    unit: 'MiB',
    label: m.lfsQuotaMegabytes,
    help: m.lfsQuotaMegabytesHelp,
  }),
  migrateFromLocalNetwork: z.boolean().default(false).meta({
    live: true,
    label: m.migrateFromLocalNetwork,
    help: m.migrateFromLocalNetworkHelp,
  }),
  hooksToLocalNetwork: z.boolean().default(false).meta({
    live: true,
    label: m.hooksToLocalNetwork,
    help: m.hooksToLocalNetworkHelp,
  }),
  noticeBranches: z
    .array(z.string().refine(isReferenceName, { error: m.noticeBranchesInvalid }))
    .default(['main', 'master', 'production'])
    .meta({
      live: true,
      label: m.noticeBranches,
      help: m.noticeBranchesHelp,
    }),
  metricsToken: z.string().max(200).default('').meta({
    label: m.metricsToken,
    help: m.metricsTokenHelp,
    secret: true,
  }),
  repositoriesFolder: pathSetting.default('').meta({
    label: m.repositoriesFolder,
    help: m.repositoriesFolderHelp,
    folder: true,
  }),
  gitPath: z.string().max(4096).default('').meta({ label: m.gitPath, help: m.gitPathHelp }),
});
export type Settings = z.infer<typeof Settings>;

/** Settings that can be set with environment variables. */
export const environment: Readonly<Record<string, keyof Settings>> = {
  GIT_METRICS_TOKEN: 'metricsToken',
  GIT_LFS_QUOTA_MB: 'lfsQuotaMegabytes',
  GIT_REPOSITORIES_FOLDER: 'repositoriesFolder',
};
