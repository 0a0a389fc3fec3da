/** Permission on a repository that a request of the app API requires; each includes the previous ones. */
export const needs = ['read', 'write', 'administer', 'own'] as const;
export type Need = (typeof needs)[number];

/** Objects of a repository that rows name. */
export interface GitObjects {
  /** `acme/r1` */
  readonly repository: string;
  readonly commit: string;
  readonly issue: string;
  readonly pull: string;
  readonly label: string;
  readonly milestone: string;
  readonly hook: string;
  readonly delivery: string;
  readonly deployKey: string;
  readonly protection: string;
  readonly release: string;
  readonly file: string;
  readonly draft: string;
  readonly draftFile: string;
}

export interface GitRow {
  /** Method and the declared path below `/api/git/repositories/:owner/:name`. */
  readonly route: string;
  readonly need: Need;
  /** Objects by path parameter; other values are used unchanged. */
  readonly at?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
  /** True for requests that remove their object, so that each permitted caller needs a separate object. */
  readonly consumes?: true;
}

export const gitRepositoryPath = '/api/git/repositories/:owner/:name';

const deployKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDnCsyGeNZzqQaeQro70kBf152qxy1Oq41OUqB74NYBl a@b';
const label = { name: 'renamed', color: '0000ff', description: '' };
const protection = {
  ...{ rule: 'other', push: 'writers', accounts: [], force: false, approvals: 0, rejections: false, fresh: false },
  checks: [],
};
const file = { branch: 'main', path: 'new.txt', text: 'text' };
const events = ['push'];

export const gitRows: readonly GitRow[] = [
  { route: 'GET ', need: 'read' },
  { route: 'GET /blame', need: 'read', query: 'path=README.md' },
  { route: 'GET /branches', need: 'read' },
  { route: 'GET /commits', need: 'read' },
  { route: 'GET /commits/:commit', need: 'read', at: { commit: 'commit' } },
  { route: 'GET /content', need: 'read' },
  { route: 'GET /file', need: 'read', query: 'path=README.md' },
  { route: 'GET /files', need: 'read' },
  { route: 'GET /issue-fields', need: 'read' },
  { route: 'GET /issues', need: 'read' },
  { route: 'GET /issues/:number', need: 'read', at: { number: 'issue' } },
  { route: 'GET /languages', need: 'read' },
  { route: 'GET /pulls/:number/changes', need: 'read', at: { number: 'pull' } },
  { route: 'GET /releases', need: 'read' },
  { route: 'GET /releases/notes', need: 'read' },
  { route: 'GET /releases/:id/files/:file', need: 'read', at: { id: 'release', file: 'file' } },
  { route: 'GET /releases/:id/files/:file', need: 'write', at: { id: 'draft', file: 'draftFile' } },
  { route: 'GET /releases/:id/source/:kind', need: 'read', at: { id: 'release', kind: 'zip' } },
  { route: 'POST /issues', need: 'read', body: { title: 'Another' } },
  { route: 'POST /issues/:number/comments', need: 'read', at: { number: 'issue' }, body: { text: 'Something' } },
  {
    route: 'PUT /issues/:number/reactions',
    need: 'read',
    at: { number: 'issue' },
    body: { content: 'heart', enabled: true },
  },
  { route: 'POST /pulls', need: 'read', body: { title: 'Pull', head: 'other-branch', base: 'main' } },
  {
    route: 'POST /pulls/:number/reviews',
    need: 'read',
    at: { number: 'pull' },
    body: { verdict: 'COMMENT', text: 'x' },
  },

  { route: 'PATCH /issues/:number', need: 'write', at: { number: 'issue' }, body: { title: 'Renamed' } },
  { route: 'PATCH /issues/:number', need: 'write', at: { number: 'issue' }, body: { labels: [] } },
  { route: 'PATCH /issues/:number', need: 'write', at: { number: 'pull' }, body: { closed: false } },
  { route: 'POST /labels', need: 'write', body: { ...label, name: 'new' } },
  { route: 'PATCH /labels/:label', need: 'write', at: { label: 'label' }, body: label },
  { route: 'DELETE /labels/:label', need: 'write', at: { label: 'label' }, consumes: true },
  { route: 'POST /milestones', need: 'write', body: { title: 'v2' } },
  { route: 'PATCH /milestones/:milestone', need: 'write', at: { milestone: 'milestone' }, body: { closed: true } },
  {
    ...{ route: 'PUT /pulls/:number/reviewers/:account', need: 'write', at: { number: 'pull', account: 'writer' } },
    body: { wanted: true },
  },
  { route: 'POST /pulls/:number/update', need: 'write', at: { number: 'pull' } },
  { route: 'POST /pulls/:number/merge', need: 'write', at: { number: 'pull' }, body: { style: 'merge' } },
  { route: 'POST /content', need: 'write', body: file },
  { route: 'POST /branches', need: 'write', body: { name: 'topic', from: 'main' } },
  { route: 'DELETE /branches', need: 'write', query: `name=other-branch&commit=${'0'.repeat(40)}` },
  { route: 'POST /releases', need: 'write', body: { tag: 'v9', draft: true } },
  { route: 'PATCH /releases/:id', need: 'write', at: { id: 'release' }, body: { title: 'Renamed' } },
  { route: 'PATCH /releases/:id', need: 'write', at: { id: 'draft' }, body: { title: 'Renamed' } },
  { route: 'DELETE /releases/:id', need: 'write', at: { id: 'release' }, consumes: true },
  { route: 'POST /releases/:id/files', need: 'write', at: { id: 'release' }, query: 'name=more.txt', body: 'bytes' },
  {
    ...{ route: 'DELETE /releases/:id/files/:file', need: 'write', at: { id: 'release', file: 'file' } },
    consumes: true,
  },

  { route: 'GET /backup', need: 'administer' },
  { route: 'GET /settings', need: 'administer' },
  { route: 'PATCH /settings', need: 'administer', body: { description: 'New' } },
  { route: 'PATCH /settings', need: 'administer', body: { archived: false } },
  {
    ...{ route: 'PUT /collaborators/:account', need: 'administer', at: { account: 'target' } },
    body: { permission: 'read' },
  },
  { route: 'DELETE /collaborators/:account', need: 'administer', at: { account: 'removable' }, consumes: true },
  { route: 'POST /deploy-keys', need: 'administer', body: { title: 'key', key: deployKey, readOnly: true } },
  { route: 'DELETE /deploy-keys/:id', need: 'administer', at: { id: 'deployKey' }, consumes: true },
  { route: 'POST /protections', need: 'administer', body: protection },
  { route: 'DELETE /protections/:id', need: 'administer', at: { id: 'protection' }, consumes: true },
  { route: 'POST /hooks', need: 'administer', body: { url: 'https://hooks.example/', events } },
  { route: 'PATCH /hooks/:id', need: 'administer', at: { id: 'hook' }, body: { active: true } },
  { route: 'DELETE /hooks/:id', need: 'administer', at: { id: 'hook' }, consumes: true },
  { route: 'POST /hooks/:id/test', need: 'administer', at: { id: 'hook' } },
  { route: 'GET /hooks/:id/deliveries', need: 'administer', at: { id: 'hook' } },
  {
    ...{ route: 'POST /hooks/:id/deliveries/:delivery', need: 'administer' },
    at: { id: 'hook', delivery: 'delivery' },
  },

  { route: 'DELETE ', need: 'own', consumes: true },
];
