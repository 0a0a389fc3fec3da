import { z } from 'zod';
import { defineRoute } from '../api.ts';

const time = z.number().describe('ms since the epoch');
const ok = z.object({ ok: z.literal(true) });
const repositoryPath = '/api/git/repositories/:owner/:name';
const access = 'objects' as const;

/** Permission on a repository. */
export const GitPermission = z.enum(['read', 'write', 'admin']);
export type GitPermission = z.infer<typeof GitPermission>;

/** Branch protection rule. */
export const GitProtection = z.object({
  id: z.int(),
  rule: z.string(),
  push: z.enum(['nobody', 'writers', 'some']),
  accounts: z.array(z.string()),
  force: z.boolean(),
  /** Required number of approving reviews. */
  approvals: z.int().min(0).max(100),
  /** A review that requests changes blocks the merge. */
  rejections: z.boolean(),
  /** Approvals of earlier commits are dismissed. */
  fresh: z.boolean(),
  /** Required checks, by name or pattern. */
  checks: z.array(z.string().max(255)).max(100),
});
export type GitProtection = z.infer<typeof GitProtection>;

/** SSH key that gives access to a single repository. */
export const GitDeployKey = z.object({
  id: z.int(),
  title: z.string(),
  fingerprint: z.string(),
  readOnly: z.boolean(),
  createdAt: time,
  lastUsedAt: time.nullable(),
});
export type GitDeployKey = z.infer<typeof GitDeployKey>;

/** Webhook of a repository. */
export const GitHook = z.object({
  id: z.int(),
  url: z.string(),
  events: z.array(z.string()),
  branchFilter: z.string(),
  active: z.boolean(),
  /** State of the latest delivery; null before the first. */
  last: z.enum(['waiting', 'delivered', 'failed']).nullable(),
});
export type GitHook = z.infer<typeof GitHook>;

/** Delivery of a webhook. */
export const GitDelivery = z.object({
  id: z.string(),
  event: z.string(),
  state: z.enum(['waiting', 'delivered', 'failed']),
  attempts: z.int(),
  createdAt: time,
  /** HTTP status of the latest attempt. */
  status: z.int().nullable(),
  milliseconds: z.int().nullable(),
  error: z.string().nullable(),
  request: z.string(),
  response: z.string().nullable(),
});
export type GitDelivery = z.infer<typeof GitDelivery>;

/** Settings of a repository. */
export const GitRepositorySettings = z.object({
  description: z.string(),
  private: z.boolean(),
  archived: z.boolean(),
  defaultBranch: z.string(),
  branches: z.array(z.string()),
  collaborators: z.array(z.object({ account: z.string(), permission: GitPermission })),
  protections: z.array(GitProtection),
  deployKeys: z.array(GitDeployKey),
  hooks: z.array(GitHook),
  mayRemove: z
    .boolean()
    .describe('True if the caller owns the repository. Accounts that only administer the repository cannot delete it.'),
});
export type GitRepositorySettings = z.infer<typeof GitRepositorySettings>;

/** Routes for the settings of a repository, for its administrators. */
export const gitSettingsApi = {
  read: defineRoute({
    method: 'GET',
    path: `${repositoryPath}/settings`,
    summary: 'Returns the settings, collaborators, protections, keys and webhooks of a repository.',
    access,
    reply: GitRepositorySettings,
  }),
  change: defineRoute({
    method: 'PATCH',
    path: `${repositoryPath}/settings`,
    summary: 'Changes the settings of a repository.',
    access,
    body: z.object({
      name: z.string().trim().max(100).optional().describe('New name. The old address redirects to the new one.'),
      description: z.string().max(2048).optional(),
      private: z.boolean().optional(),
      archived: z.boolean().optional(),
      defaultBranch: z.string().max(250).optional(),
    }),
    reply: ok,
  }),
  share: defineRoute({
    method: 'PUT',
    path: `${repositoryPath}/collaborators/:account`,
    summary: 'Adds a collaborator to a repository.',
    access,
    body: z.object({ permission: GitPermission }),
    reply: ok,
  }),
  unshare: defineRoute({
    method: 'DELETE',
    path: `${repositoryPath}/collaborators/:account`,
    summary: 'Removes a collaborator from a repository.',
    access,
    reply: ok,
  }),
  protect: defineRoute({
    method: 'POST',
    path: `${repositoryPath}/protections`,
    summary: 'Protects a branch, or all branches whose names match a pattern.',
    access,
    body: GitProtection.omit({ id: true }).extend({ rule: z.string().trim().min(1).max(250) }),
    reply: ok,
  }),
  unprotect: defineRoute({
    method: 'DELETE',
    path: `${repositoryPath}/protections/:id`,
    summary: 'Removes a branch protection.',
    access,
    reply: ok,
  }),
  addDeployKey: defineRoute({
    method: 'POST',
    path: `${repositoryPath}/deploy-keys`,
    summary: 'Adds a deploy key, which gives access only to this repository.',
    access,
    body: z.object({
      title: z.string().trim().min(1).max(200),
      key: z.string().min(1).max(16_384),
      readOnly: z.boolean(),
    }),
    reply: ok,
  }),
  removeDeployKey: defineRoute({
    method: 'DELETE',
    path: `${repositoryPath}/deploy-keys/:id`,
    summary: 'Removes a deploy key.',
    access,
    reply: ok,
  }),
  addHook: defineRoute({
    method: 'POST',
    path: `${repositoryPath}/hooks`,
    summary: 'Adds a webhook.',
    access,
    body: z.object({
      url: z.string().max(2000),
      secret: z.string().max(1000).default(''),
      events: z.array(z.string().max(50)).min(1).max(50),
      branchFilter: z.string().max(500).default(''),
    }),
    reply: GitHook,
  }),
  changeHook: defineRoute({
    method: 'PATCH',
    path: `${repositoryPath}/hooks/:id`,
    summary: 'Enables or disables a webhook.',
    access,
    body: z.object({ active: z.boolean() }),
    reply: ok,
  }),
  removeHook: defineRoute({
    method: 'DELETE',
    path: `${repositoryPath}/hooks/:id`,
    summary: 'Removes a webhook.',
    access,
    reply: ok,
  }),
  testHook: defineRoute({
    method: 'POST',
    path: `${repositoryPath}/hooks/:id/test`,
    summary: 'Sends the newest commit to a webhook as a push event.',
    access,
    reply: ok,
  }),
  deliveries: defineRoute({
    method: 'GET',
    path: `${repositoryPath}/hooks/:id/deliveries`,
    summary: 'Lists the deliveries of a webhook with their responses, newest first.',
    access,
    reply: z.object({ deliveries: z.array(GitDelivery) }),
  }),
  replay: defineRoute({
    method: 'POST',
    path: `${repositoryPath}/hooks/:id/deliveries/:delivery`,
    summary: 'Sends a delivery again.',
    access,
    reply: ok,
  }),
};
