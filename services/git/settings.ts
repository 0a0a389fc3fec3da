import { z } from 'zod';
import { isNewBranchName, isReferenceName } from './domain/names.ts';

/** Section `services.git` of the settings. */
export const Settings = z.object({
  requireSignIn: z.boolean().default(false).meta({
    live: true,
    title: 'Sign-in for public repositories',
    description: 'Public repositories are shown to accounts only. Private ones always are.',
  }),
  defaultPrivate: z.boolean().default(false).meta({
    live: true,
    title: 'New repositories are private',
    description: 'What a repository is when neither a program nor a person says whether it is private.',
  }),
  defaultBranch: z
    .string()
    .refine(isNewBranchName, 'Use the name of a branch such as main.')
    .default('main')
    .meta({ live: true, title: 'Default branch', description: 'The first branch of new repositories.' }),
  createOnPush: z.boolean().default(false).meta({
    live: true,
    title: 'Create on first push',
    description: 'Who pushes to a repository of their own that is not there gets it made, as a private one.',
  }),
  publicUrl: z
    .string()
    .max(2000)
    .regex(/^(https?:\/\/[^\s?#]+)?$/, 'Use a web address without a query.')
    .default('')
    .meta({
      live: true,
      title: 'Public address',
      description: 'What clone addresses and links begin with. Empty: the address that a client came by.',
    }),
  sshHost: z
    .string()
    .regex(/^[A-Za-z0-9.:-]{0,253}$/, 'Use a host name or an address.')
    .default('')
    .meta({
      live: true,
      title: 'SSH host',
      description: 'The host of SSH addresses. Empty: the host that a client came by.',
    }),
  maxPushMegabytes: z.int().min(0).max(1_048_576).default(0).meta({
    live: true,
    unit: 'MiB',
    title: 'Largest push',
    description: 'A larger one is refused. 0: no limit.',
  }),
  lfsQuotaMegabytes: z.int().min(0).max(1_073_741_824).default(0).meta({
    live: true,
    unit: 'MiB',
    title: 'Large files of a repository',
    description: 'As much as the files of Git LFS of one repository may take. 0: no limit.',
  }),
  migrateFromLocalNetwork: z.boolean().default(false).meta({
    live: true,
    title: 'Migrate from the local network',
    description: 'Accounts may copy repositories from private addresses, which else only administrators may.',
  }),
  hooksToLocalNetwork: z.boolean().default(false).meta({
    live: true,
    title: 'Webhooks to the local network',
    description: 'Webhooks of all accounts may call private addresses, which else only those of administrators may.',
  }),
  noticeBranches: z
    .array(z.string().refine(isReferenceName, 'Use the name of a branch such as main.'))
    .default(['main', 'master', 'production'])
    .meta({
      live: true,
      title: 'Branches to be told of',
      description: 'A push to one of these comes to the inbox, tagged deployment. One a line.',
    }),
  metricsToken: z.string().max(200).default('').meta({
    title: 'Token for metrics',
    description: 'Who reads the metrics page must send it as a Bearer token. Empty: the page is open on this computer.',
    secret: true,
  }),
  gitPath: z
    .string()
    .max(4096)
    .default('')
    .meta({ title: 'Git program', description: 'Absolute path of git. Empty: the one on the path.' }),
});
export type Settings = z.infer<typeof Settings>;

/** Settings that can be set with environment variables. */
export const environment: Readonly<Record<string, keyof Settings>> = {
  GIT_METRICS_TOKEN: 'metricsToken',
  GIT_LFS_QUOTA_MB: 'lfsQuotaMegabytes',
};
