import * as m from '#messages/git-texts';
import { splitTree } from '../../contracts/git/web-addresses.ts';
import { decodeText } from '../../kit/text-encoding.ts';
import { normalizeTreePath } from '../domain/names.ts';
import { renderMarkdown } from '../domain/markdown.ts';
import { readLargeText } from '../lfs/large-text.ts';
import { parsePointer } from '../lfs/pointer.ts';
import { compareDiffs, readDiffs } from '../app-api/diffs.ts';
import { findMergeBase, readCommit, readLog, type Commit } from '../repositories/commits.ts';
import { readReferences } from '../repositories/references.ts';
import { parseRange, resolveRange } from '../repositories/revision-range.ts';
import { resolveRevision, type Revision } from '../repositories/revisions.ts';
import { readTree } from '../repositories/trees.ts';
import { anonymousCaller } from '../sign-in/caller.ts';
import { Html, html } from './html.ts';
import type { PageRequest, VisitorPage } from './page-request.ts';

// Icons of Lucide.
const fileIcon = new Html(
  '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M14 3H7a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2V8z"/><path d="M14 3v5h5"/></svg>',
);
const folderIcon = new Html(
  '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 5h5l2 3h9a1 1 0 0 1 1 1v9a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V6a1 1 0 0 1 1-1z"/></svg>',
);
const branchIcon = new Html(
  '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M6 3v12M18 9a9 9 0 0 1-9 9"/><circle cx="18" cy="6" r="3"/><circle cx="6" cy="18" r="3"/></svg>',
);

const maxTextBytes = 512 * 1024;
const maxReadmeBytes = 100 * 1024;
const maxCommits = 50;

/** Revision and path of an address. */
interface Location {
  readonly revision: Revision;
  readonly path: string;
  /** Kind and name such as `branch/main`, encoded for addresses. */
  readonly encodedRevision: string;
}

function getFolder({ deps, repository }: PageRequest): string {
  return deps.storage.manager.getFolder(repository);
}

function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

async function resolveLocation(request: PageRequest): Promise<Location | undefined> {
  const { deps, repository, address } = request;
  const folder = getFolder(request);
  const names = await readReferences(deps.storage.git, folder, 'refs/');
  const listNames = (prefix: string) =>
    names.flatMap(({ ref }) => (ref.startsWith(prefix) ? [ref.slice(prefix.length)] : []));
  const hasKind = ['branch', 'tag', 'commit'].includes(address.rest[0] ?? '');
  const tree = [...(hasKind ? [] : ['any']), ...address.rest].join('/');
  const { ref, path } =
    address.rest.length === 0
      ? { ref: '', path: '' }
      : splitTree(tree, { branches: listNames('refs/heads/'), tags: listNames('refs/tags/') });
  const revision = await resolveRevision(deps.storage.objects, folder, repository, ref);
  const inside = normalizeTreePath(path);
  if (revision === undefined || inside === undefined) return undefined;
  return { revision, path: inside, encodedRevision: `${revision.kind}/${encodePath(revision.name)}` };
}

/** Renders a folder with its README, or a file. */
export async function renderTreePage(request: PageRequest): Promise<VisitorPage | undefined> {
  const { deps, repository, address, home } = request;
  if (repository.empty && address.rest.length === 0) {
    return { title: m.code(), tab: 'code', body: html`<p>${m.emptyRepository()}</p>` };
  }
  const location = await resolveLocation(request);
  if (location === undefined) return undefined;
  const { revision, path } = location;
  const folder = getFolder(request);
  const info = await deps.storage.objects.info(
    folder,
    path === '' ? `${revision.commit}^{tree}` : `${revision.commit}:${path}`,
  );
  const breadcrumbs = renderBreadcrumbs(home, location);
  if (info?.type === 'blob')
    return { title: path, tab: 'code', body: await renderFile(request, location, info, breadcrumbs) };
  const entries = info?.type === 'tree' ? await readTree(deps.storage.objects, folder, info.id) : undefined;
  if (entries === undefined) return undefined;
  const sorted = entries.toSorted((one, other) => Number(other.type === 'tree') - Number(one.type === 'tree'));
  const rows = sorted.map(({ name, type }) => {
    const inside = path === '' ? name : `${path}/${name}`;
    const href = `${home}/src/${location.encodedRevision}/${encodePath(inside)}`;
    if (type === 'commit') return html`<li><span>${name}</span><span class="soft">${m.submodule()}</span></li>`;
    return html`<li>
      <span class="entry">${type === 'tree' ? folderIcon : fileIcon}<a href="${href}">${name}</a></span>
    </li>`;
  });
  const readme = entries.find(({ name, type }) => type === 'blob' && /^readme(\.(md|markdown|txt))?$/i.test(name));
  const text = readme === undefined ? undefined : await readTextBlob(request, readme.id, maxReadmeBytes);
  const renderedReadme = text === undefined ? undefined : renderReadme(readme?.name ?? '', text);
  const body = html`<div class="card">
      <header>${breadcrumbs}</header>
      <ul class="rows">
        ${rows}
      </ul>
    </div>
    ${renderedReadme}`;
  return { title: path === '' ? m.code() : path, tab: 'code', body };
}

function renderReadme(name: string, text: string): Html {
  const isMarkdown = /\.(md|markdown)$/i.test(name);
  const body = isMarkdown ? new Html(renderMarkdown(text)) : html`<pre>${text}</pre>`;
  return html`<section class="card">
    <header><h2>${name}</h2></header>
    <div class="text">${body}</div>
  </section>`;
}

function renderBreadcrumbs(home: string, { encodedRevision, path, revision }: Location): Html {
  const parts = path === '' ? [] : path.split('/');
  const links = parts.map((part, index) => {
    const inside = encodePath(parts.slice(0, index + 1).join('/'));
    return html` / <a href="${home}/src/${encodedRevision}/${inside}">${part}</a>`;
  });
  return html`<span class="branch">${branchIcon}<a href="${home}/src/${encodedRevision}">${revision.name}</a></span
    >${links}`;
}

async function renderFile(
  request: PageRequest,
  { encodedRevision, path }: Location,
  { id, size }: { readonly id: string; readonly size: number },
  breadcrumbs: Html,
): Promise<Html> {
  const { home } = request;
  const inside = encodePath(path);
  const bytes =
    size > maxTextBytes ? undefined : (await request.deps.storage.objects.contents(getFolder(request), id))?.bytes;
  const pointer = bytes === undefined ? undefined : parsePointer(bytes);
  const raw = `${home}/${pointer === undefined ? 'raw' : 'media'}/${encodedRevision}/${inside}`;
  const links = html`<p class="soft">
    ${m.byteCount({ count: pointer?.size ?? size })} · <a href="${raw}">${m.raw()}</a> ·
    <a href="${home}/commits/${encodedRevision}/${inside}">${m.history()}</a>
  </p>`;
  const { deps, repository } = request;
  const text =
    pointer === undefined
      ? bytes && decodeText(bytes)?.text
      : await readLargeText(deps.features.lfs, repository, pointer, maxTextBytes);
  const isPicture = /\.(png|jpe?g|gif|webp)$/i.test(path);
  const other = isPicture
    ? html`<div class="text"><img src="${raw}" alt="${path}" /></div>`
    : html`<p class="text">${m.fileNotShown()}</p>`;
  const lines = text === undefined ? other : renderLines(text);
  return html`<div class="card">
    <header>${breadcrumbs}${links}</header>
    ${lines}
  </div>`;
}

/** Renders lines with numbers that addresses can refer to: `#L10`. */
function renderLines(text: string): Html {
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/);
  const rows = lines.map((line, index) => {
    const number = index + 1;
    return html`<tr id="L${number}">
      <td><a href="#L${number}">${number}</a></td>
      <td>${line}</td>
    </tr>`;
  });
  return html`<div class="code">
    <table>
      ${rows}
    </table>
  </div>`;
}

async function readTextBlob(request: PageRequest, id: string, maxBytes: number): Promise<string | undefined> {
  const { objects } = request.deps.storage;
  const info = await objects.info(getFolder(request), id);
  if (info === undefined || info.size > maxBytes) return undefined;
  const bytes = (await objects.contents(getFolder(request), id))?.bytes;
  return bytes === undefined ? undefined : decodeText(bytes)?.text;
}

function renderCommit(home: string, { id, message, author }: Commit): Html {
  const title = message.split('\n', 1)[0] ?? '';
  const day = author.date.slice(0, 10);
  return html`<li>
    <a href="${home}/commit/${id}">${title === '' ? id.slice(0, 10) : title}</a>
    <span class="soft">${author.name} · ${day} · <code>${id.slice(0, 10)}</code></span>
  </li>`;
}

/** Renders the commits of a branch, or of a path within it. */
export async function renderHistoryPage(request: PageRequest): Promise<VisitorPage | undefined> {
  const { home, deps, query } = request;
  if (request.repository.empty) return { title: m.commits(), tab: 'commits', body: html`<p>${m.noCommits()}</p>` };
  const location = await resolveLocation(request);
  if (location === undefined) return undefined;
  const page = Math.max(1, Math.min(10_000, Number(query.get('page') ?? '') || 1));
  const offset = (page - 1) * maxCommits;
  const logQuery = { from: [location.revision.commit], path: location.path, offset, limit: maxCommits + 1 };
  const commits = await readLog(deps.storage.git, getFolder(request), logQuery);
  const rows = commits.slice(0, maxCommits).map((commit) => renderCommit(home, commit));
  const next =
    commits.length > maxCommits ? html`<p><a href="?page=${page + 1}">${m.olderCommits()}</a></p>` : undefined;
  const breadcrumbs = renderBreadcrumbs(home, location);
  const body = html`<div class="card">
      <header>${breadcrumbs}</header>
      <ul class="rows">
        ${rows}
      </ul>
    </div>
    ${next}`;
  return { title: m.commits(), tab: 'commits', body };
}

export async function renderCommitPage(request: PageRequest, name: string): Promise<VisitorPage | undefined> {
  const { home, deps, repository } = request;
  const folder = getFolder(request);
  const revision = name === '' ? undefined : await resolveRevision(deps.storage.objects, folder, repository, name);
  const commit = revision && (await readCommit(deps.storage.git, folder, revision.commit));
  if (commit === undefined) return undefined;
  const [title = '', ...rest] = commit.message.trim().split('\n');
  const body = html`<section class="card">
      <header>
        <h2>${title}</h2>
        <pre>${rest.join('\n').trim()}</pre>
        <p class="soft">${commit.author.name} · ${commit.author.date.slice(0, 10)} · <code>${commit.id}</code></p>
        <p><a href="${home}/src/commit/${commit.id}">${m.filesAtCommit()}</a></p>
      </header>
    </section>
    ${renderDiff(await readDiffs(deps.storage.git, folder, commit.id))}`;
  return { title, tab: 'commits', body };
}

/** Renders the changes between two commits: `main...topic`. */
export async function renderComparePage(request: PageRequest): Promise<VisitorPage | undefined> {
  const { address, home, deps, repository } = request;
  const folder = getFolder(request);
  const text = address.rest.join('/');
  const range = await resolveRange(deps, anonymousCaller, repository, text);
  if (range === undefined) return undefined;
  const { from, to, isDirect } = range;
  const { base, head: after } = parseRange(text);
  const before = base === '' ? repository.defaultBranch : base;
  const start = isDirect ? from.commit : await findMergeBase(deps.storage.git, folder, from.commit, to.commit);
  const commits = await readLog(deps.storage.git, folder, {
    from: [to.commit],
    exclude: [from.commit],
    limit: maxCommits,
  });
  const rows = commits.map((commit) => renderCommit(home, commit));
  const body = html`<div class="card">
      <header><h2>${before} &hellip; ${after}</h2></header>
      <ul class="rows">
        ${rows}
      </ul>
    </div>
    ${renderDiff(await compareDiffs(deps.storage.git, folder, start ?? from.commit, to.commit))}`;
  return { title: m.comparison({ before, after }), tab: 'commits', body };
}

type Diff = Awaited<ReturnType<typeof readDiffs>>;

export function renderDiff({ files, total }: Diff): Html {
  const sections = files.map(({ additions, deletions, patch, path }) => {
    const rows = (patch ?? '').split('\n').map((line) => {
      const kind = line.startsWith('+') ? 'add' : line.startsWith('-') ? 'del' : '';
      return html`<tr class="${kind}">
        <td></td>
        <td>${line}</td>
      </tr>`;
    });
    const lines =
      patch === null
        ? html`<p class="text">${m.diffNotShown()}</p>`
        : html`<div class="code">
            <table>
              ${rows}
            </table>
          </div>`;
    return html`<section class="card">
      <header>
        <h3>${path}</h3>
        <p class="soft">+${additions} &minus;${deletions}</p>
      </header>
      ${lines}
    </section>`;
  });
  const omittedNotice =
    total === null || total > files.length ? html`<p class="soft">${m.filesNotShown()}</p>` : undefined;
  return html`${sections}${omittedNotice}`;
}

export async function renderBranchPage(request: PageRequest): Promise<VisitorPage> {
  const { home, deps } = request;
  const references = await readReferences(deps.storage.git, getFolder(request), 'refs/');
  const renderReferences = (prefix: string, kind: string) =>
    references.flatMap(({ ref }) => {
      if (!ref.startsWith(prefix)) return [];
      const name = ref.slice(prefix.length);
      const zip = `${home}/archive/${encodePath(name)}.zip`;
      const location = `${home}/src/${kind}/${encodePath(name)}`;
      return [html`<li><a href="${location}">${name}</a><a class="soft" href="${zip}">ZIP</a></li>`];
    });
  const card = (title: string, rows: readonly Html[]) =>
    html`<section class="card">
      <header><h2>${title}</h2></header>
      <ul class="rows">
        ${rows}
      </ul>
    </section>`;
  const branches = card(m.branches(), renderReferences('refs/heads/', 'branch'));
  return {
    title: m.branchesAndTags(),
    tab: 'branches',
    body: html`${branches}${card(m.tags(), renderReferences('refs/tags/', 'tag'))}`,
  };
}
