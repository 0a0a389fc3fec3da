import { z } from 'zod';
import { isNewBranchName, isReferenceName } from './domain/names.ts';

/** Section `services.git` of the settings. */
export const Settings = z.object({
  requireSignIn: z.boolean().default(false).meta({
    live: true,
    title: 'Sign-in for public repositories',
    description: 'Requires an account to read public repositories. Private repositories always require one.',
  }),
  defaultPrivate: z.boolean().default(false).meta({
    live: true,
    title: 'New repositories are private',
    description: 'Creates repositories as private when the request does not specify it.',
  }),
  defaultBranch: z
    .string()
    .refine(isNewBranchName, 'Use the name of a branch such as main.')
    .default('main')
    .meta({ live: true, title: 'Default branch', description: 'Initial branch of new repositories.' }),
  createOnPush: z.boolean().default(false).meta({
    live: true,
    title: 'Create on first push',
    description:
      'Creates a private repository when a user pushes to a repository in their namespace that does not exist.',
  }),
  publicUrl: z
    .string()
    .max(2000)
    .regex(/^(https?:\/\/[^\s?#]+)?$/, 'Use a web address without a query.')
    .default('')
    .meta({
      live: true,
      title: 'Public address',
      description: 'Base URL of clone addresses and links. Leave empty to use the address of the request.',
    }),
  sshHost: z
    .string()
    .regex(/^[A-Za-z0-9.:-]{0,253}$/, 'Use a host name or an address.')
    .default('')
    .meta({
      live: true,
      title: 'SSH host',
      description: 'Host name in SSH clone addresses. Leave empty to use the host of the request.',
    }),
  maxPushMegabytes: z.int().min(0).max(1_048_576).default(0).meta({
    live: true,
    unit: 'MiB',
    title: 'Maximum push size',
    description: 'Larger pushes are rejected. Set to 0 for no limit.',
  }),
  lfsQuotaMegabytes: z.int().min(0).max(1_073_741_824).default(0).meta({
    live: true,
    unit: 'MiB',
    title: 'Git LFS quota',
    description: 'Maximum size of all Git LFS files of a repository. Set to 0 for no limit.',
  }),
  migrateFromLocalNetwork: z.boolean().default(false).meta({
    live: true,
    title: 'Migrate from the local network',
    description:
      'Allows all accounts to migrate repositories from private addresses. When off, only administrators can.',
  }),
  hooksToLocalNetwork: z
    .boolean()
    .default(false)
    .meta({
      live: true,
      title: 'Webhooks to the local network',
      description:
        'Allows webhooks of all accounts to call private addresses. When off, only webhooks of ' +
        'administrators can.',
    }),
  noticeBranches: z
    .array(z.string().refine(isReferenceName, 'Use the name of a branch such as main.'))
    .default(['main', 'master', 'production'])
    .meta({
      live: true,
      title: 'Branches with push notifications',
      description: 'Pushes to these branches are reported in the inbox with the tag deployment. One branch per line.',
    }),
  metricsToken: z
    .string()
    .max(200)
    .default('')
    .meta({
      title: 'Metrics token',
      description:
        'Bearer token required to read the metrics endpoint. Leave empty to allow access from this ' +
        'computer without a token.',
      secret: true,
    }),
  gitPath: z
    .string()
    .max(4096)
    .default('')
    .meta({ title: 'Git executable', description: 'Absolute path of git. Leave empty to use the engine.' }),
});
export type Settings = z.infer<typeof Settings>;

/** Settings that can be set with environment variables. */
export const environment: Readonly<Record<string, keyof Settings>> = {
  GIT_METRICS_TOKEN: 'metricsToken',
  GIT_LFS_QUOTA_MB: 'lfsQuotaMegabytes',
};
