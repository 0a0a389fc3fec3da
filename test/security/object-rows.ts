import { accessPassword } from '../support/access.ts';

/** IDs of the objects of the account `owner`. */
export interface OwnedObjects {
  readonly folder: string;
  /** Scheduled messages: one to be changed and published, one to be cancelled. */
  readonly planned: readonly [string, string];
  readonly schedule: string;
  readonly item: number;
  /** Change of the inbox that its account can undo. */
  readonly change: number;
  readonly task: number;
  readonly job: number;
  readonly plan: number;
  readonly token: string;
  readonly session: string;
  readonly key: number;
}

/**
 * Expected result: `refused` is 401, 403 or 404; `empty` is a response without the marker; `unchanged` is a response
 * that changes nothing.
 */
export type Outcome = 'refused' | 'empty' | 'unchanged';

export interface ObjectRow {
  /** Declared route. */
  readonly route: string;
  readonly path: (objects: OwnedObjects) => string;
  readonly body?: (objects: OwnedObjects) => unknown;
  /** Expected result for other accounts. */
  readonly others: Outcome;
  /** Text that only the response to the owner contains; default: the marker. */
  readonly shows?: RegExp;
  /** Further permitted accounts, since the grant decides. */
  readonly allowed?: readonly ('reader' | 'rival')[];
  /** True when the owner is refused as well, for the reason in the title. */
  readonly ownerRefused?: string;
}

/** Text that all objects of the owner contain. */
export const marker = 'MARKER';
export const hiddenTopic = `${marker}-topic`;

const schedule = { topic: hiddenTopic, message: 'x', rule: '0 9 * * *', zone: 'UTC' };
const task = ({ folder }: OwnedObjects): object => ({
  name: 'x',
  source: `${folder}/in`,
  destination: `${folder}/out`,
});
const listedFile = (folder: string): { readonly path: string; readonly isFolder: boolean } => ({
  path: `${folder}/in/a.txt`,
  isFolder: false,
});
const everyone = ['reader', 'rival'] as const;

/**
 * Routes of the app API with the access `objects`, and routes with the access `user` that name an object. Code is
 * tested separately.
 */
export const objectRows: readonly ObjectRow[] = [
  {
    ...{ route: 'PUT /api/push/browsers', path: () => '/api/push/browsers', others: 'refused', allowed: everyone },
    body: () => ({
      endpoint: 'https://fcm.googleapis.com/fcm/send/x',
      ...{ auth: 'YXV0aA', p256dh: 'cDI1NmRo', topics: [hiddenTopic] },
    }),
  },
  {
    ...{ route: 'POST /api/push/browsers/topics', path: () => '/api/push/browsers/topics', others: 'empty' },
    body: () => ({ endpoint: `https://fcm.googleapis.com/fcm/send/${marker}` }),
  },
  { route: 'GET /api/push/topics', path: () => '/api/push/topics', others: 'empty', allowed: everyone },
  { route: 'GET /api/push/search', path: () => `/api/push/search?q=${marker}`, others: 'empty', allowed: everyone },
  {
    route: 'GET /api/push/statistics/topics',
    path: () => '/api/push/statistics/topics',
    others: 'empty',
    allowed: everyone,
  },
  {
    ...{ route: 'GET /api/push/statistics/topics', others: 'empty', allowed: everyone },
    path: () => `/api/push/statistics/topics?topic=${hiddenTopic}`,
  },
  {
    ...{ route: 'GET /api/push/statistics/hours', others: 'empty', shows: /"normal":[1-9]/, allowed: everyone },
    path: () => '/api/push/statistics/hours',
  },
  {
    ...{ route: 'POST /api/push/messages', path: () => '/api/push/messages', others: 'refused', allowed: ['rival'] },
    body: () => ({ topic: hiddenTopic, message: marker }),
  },
  { route: 'GET /api/push/planned', path: () => '/api/push/planned', others: 'empty' },
  {
    ...{
      route: 'PATCH /api/push/planned/:id',
      path: ({ planned }) => `/api/push/planned/${planned[0]}`,
      others: 'refused',
    },
    body: () => ({ at: '3h' }),
  },
  {
    ...{ route: 'POST /api/push/planned/:id/publish', others: 'refused' },
    path: ({ planned }) => `/api/push/planned/${planned[0]}/publish`,
  },
  {
    ...{ route: 'DELETE /api/push/planned/:id', others: 'refused' },
    path: ({ planned }) => `/api/push/planned/${planned[1]}`,
  },
  { route: 'GET /api/push/schedules', path: () => '/api/push/schedules', others: 'empty' },
  {
    ...{ route: 'POST /api/push/schedules', path: () => '/api/push/schedules', others: 'refused', allowed: ['rival'] },
    body: () => schedule,
  },
  {
    ...{
      route: 'PUT /api/push/schedules/:id',
      path: (has) => `/api/push/schedules/${has.schedule}`,
      others: 'refused',
    },
    body: () => schedule,
  },
  {
    ...{ route: 'PUT /api/push/schedules/:id/enabled', others: 'refused' },
    path: (has) => `/api/push/schedules/${has.schedule}/enabled`,
    body: () => ({ enabled: true }),
  },
  {
    ...{ route: 'POST /api/push/schedules/:id/run', others: 'refused' },
    path: (has) => `/api/push/schedules/${has.schedule}/run`,
  },
  {
    ...{ route: 'DELETE /api/push/schedules/:id', others: 'refused' },
    path: (has) => `/api/push/schedules/${has.schedule}`,
  },

  { route: 'GET /api/inbox', path: () => '/api/inbox', others: 'empty', allowed: everyone },
  { route: 'GET /api/inbox/search', path: () => `/api/inbox/search?q=${marker}`, others: 'empty', allowed: everyone },
  {
    route: 'GET /api/inbox/unread-topics',
    path: () => '/api/inbox/unread-topics',
    others: 'empty',
    allowed: everyone,
  },
  {
    route: 'GET /api/inbox/:id',
    path: ({ item }) => `/api/inbox/${String(item)}`,
    others: 'refused',
    allowed: everyone,
  },
  {
    ...{ route: 'POST /api/inbox/undo', path: () => '/api/inbox/undo', others: 'unchanged', allowed: everyone },
    body: ({ change }) => ({ change }),
  },
  {
    ...{ route: 'PATCH /api/inbox', path: () => '/api/inbox', others: 'unchanged', allowed: everyone },
    body: ({ item }) => ({ ids: [item], read: true }),
  },
  {
    ...{ route: 'PATCH /api/inbox', path: () => '/api/inbox', others: 'unchanged', allowed: everyone },
    body: () => ({ ids: 'all', read: false }),
  },
  {
    ...{ route: 'POST /api/inbox/remove', path: () => '/api/inbox/remove', others: 'unchanged', allowed: ['rival'] },
    body: ({ item }) => ({ ids: [item] }),
  },

  { route: 'GET /api/sync', path: () => '/api/sync', others: 'empty' },
  { route: 'GET /api/sync/jobs', path: () => '/api/sync/jobs', others: 'empty' },
  { route: 'GET /api/sync/jobs/:id', path: ({ job }) => `/api/sync/jobs/${String(job)}`, others: 'refused' },
  { route: 'POST /api/sync/jobs/:id/stop', path: ({ job }) => `/api/sync/jobs/${String(job)}/stop`, others: 'refused' },
  { route: 'POST /api/sync/jobs/:id/undo', path: ({ job }) => `/api/sync/jobs/${String(job)}/undo`, others: 'refused' },
  { route: 'GET /api/sync/plans/:id', path: ({ plan }) => `/api/sync/plans/${String(plan)}`, others: 'refused' },
  {
    ...{ route: 'GET /api/sync/plans/:id/files', others: 'refused' },
    path: ({ plan }) => `/api/sync/plans/${String(plan)}/files?what=create`,
  },
  {
    ...{ route: 'GET /api/sync/files', others: 'refused', allowed: everyone },
    path: ({ folder }) => `/api/sync/files?at=${encodeURIComponent(`${folder}/in`)}`,
  },
  {
    ...{ route: 'POST /api/sync/files/folders', path: () => '/api/sync/files/folders', others: 'refused' },
    ...{ allowed: ['rival'], body: ({ folder }) => ({ at: `${folder}/in`, name: 'x' }) },
  },
  {
    ...{ route: 'POST /api/sync/files/transfers', path: () => '/api/sync/files/transfers', others: 'refused' },
    ...{
      allowed: ['rival'],
      body: ({ folder }) => ({ action: 'copy', items: [listedFile(folder)], to: `${folder}/out` }),
    },
  },
  {
    ...{ route: 'POST /api/sync/files/deletions', path: () => '/api/sync/files/deletions', others: 'refused' },
    ...{ allowed: ['rival'], body: ({ folder }) => ({ items: [{ path: `${folder}/out/none`, isFolder: false }] }) },
  },
  {
    ...{ route: 'POST /api/sync/files/content', others: 'refused', allowed: ['rival'] },
    path: ({ folder }) => `/api/sync/files/content?name=x&at=${encodeURIComponent(`${folder}/out`)}`,
    body: () => ({}),
  },
  {
    ...{ route: 'GET /api/sync/files/content/:path', others: 'refused', allowed: everyone },
    path: ({ folder }) => `/api/sync/files/content/${encodeURIComponent(listedFile(folder).path)}`,
  },
  { route: 'POST /api/sync/tasks', path: () => '/api/sync/tasks', body: task, others: 'refused', allowed: ['rival'] },
  { route: 'GET /api/sync/tasks/:id', path: (has) => `/api/sync/tasks/${String(has.task)}`, others: 'refused' },
  {
    ...{ route: 'PUT /api/sync/tasks/:id', path: (has) => `/api/sync/tasks/${String(has.task)}`, others: 'refused' },
    body: task,
  },
  {
    ...{ route: 'POST /api/sync/tasks/:id/preview', others: 'refused' },
    path: (has) => `/api/sync/tasks/${String(has.task)}/preview`,
  },
  {
    ...{ route: 'POST /api/sync/tasks/:id/run', others: 'refused', body: () => ({}) },
    path: (has) => `/api/sync/tasks/${String(has.task)}/run`,
  },
  {
    ...{ route: 'POST /api/sync/tasks/:id/pause', others: 'refused' },
    path: (has) => `/api/sync/tasks/${String(has.task)}/pause`,
  },
  {
    ...{ route: 'POST /api/sync/tasks/:id/resume', others: 'refused' },
    path: (has) => `/api/sync/tasks/${String(has.task)}/resume`,
  },
  { route: 'DELETE /api/sync/tasks/:id', path: (has) => `/api/sync/tasks/${String(has.task)}`, others: 'refused' },

  { route: 'GET /api/git/repositories', path: () => '/api/git/repositories', others: 'empty' },
  { route: 'GET /api/git/history', path: () => '/api/git/history', others: 'empty' },
  { route: 'GET /api/git/history', path: () => `/api/git/history?repository=owner/${marker}`, others: 'empty' },
  { route: 'GET /api/git/activity', path: () => '/api/git/activity', others: 'empty', shows: /"count":[1-9]/ },
  { route: 'GET /api/git/overview', path: () => '/api/git/overview', others: 'empty' },
  { route: 'GET /api/git/keys', path: () => '/api/git/keys', others: 'empty' },
  { route: 'DELETE /api/git/keys/:id', path: ({ key }) => `/api/git/keys/${String(key)}`, others: 'refused' },
  { route: 'GET /api/push/quiet', path: () => '/api/push/quiet', others: 'empty' },
  { route: 'GET /api/account', path: () => '/api/account', others: 'empty', shows: /"label":"MARKER"/ },
  { route: 'GET /api/account/sessions', path: () => '/api/account/sessions', others: 'empty' },
  { route: 'DELETE /api/account/tokens/:id', path: ({ token }) => `/api/account/tokens/${token}`, others: 'refused' },
  {
    ...{ route: 'DELETE /api/account/sessions/:id', others: 'refused' },
    path: ({ session }) => `/api/account/sessions/${session}`,
  },
  {
    route: 'POST /api/account/passkeys/:id/remove',
    others: 'refused',
    ownerRefused: 'has no passkey',
    path: () => '/api/account/passkeys/x/remove',
    body: () => ({ password: accessPassword }),
  },
];
