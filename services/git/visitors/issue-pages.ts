import * as m from '#messages/git-texts';
import { renderMarkdown } from '../domain/markdown.ts';
import { isVisibleTo } from '../issues/entry-visibility.ts';
import { compareDiffs } from '../app-api/diffs.ts';
import type { Issue } from '../issues/issues.ts';
import { isPull } from '../pulls/pulls.ts';
import { resolveByKind } from '../repositories/revisions.ts';
import { renderDiff } from './code-pages.ts';
import { Html, html } from './html.ts';
import type { RepositoryStorage } from '../repositories/storage.ts';
import type { PageRequest, VisitorPage } from './page-request.ts';

const perPage = 50;

function formatDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function renderText(text: string): Html {
  return new Html(renderMarkdown(text));
}

/** Renders the list of open or closed issues or pull requests, or of the issues of a milestone. */
export async function renderIssuesPage({ address, home, deps, query, repository }: PageRequest): Promise<VisitorPage> {
  const pull = address.kind === 'pulls';
  const kind = pull ? 'pulls' : 'issues';
  const closed = query.get('state') === 'closed';
  const page = Math.max(1, Math.min(10_000, Number(query.get('page') ?? '') || 1));
  const searchText = query.get('q') ?? '';
  const milestone = (address.kind === 'milestone' ? address.rest[0] : query.get('milestone')) ?? '';
  const labelIds = (query.get('labels') ?? '').split(',').filter((id) => /^[1-9]\d{0,8}$/.test(id));
  const filters = {
    ...{ scope: repository.id, closed, searchText, limit: perPage, offset: (page - 1) * perPage },
    ...(address.kind === 'milestone' ? {} : { pull }),
    ...(milestone === '' || milestone === '0' ? {} : { milestones: [milestone] }),
    ...(labelIds.length === 0 ? {} : { labelIds: labelIds.map(Number) }),
  };
  const result = await deps.collaboration.issues.list(filters);
  const rows = result.issues.map(
    ({ author, comments, created_at, number, title }) =>
      html`<li>
        <a href="${home}/${kind}/${number}">${title}</a>
        <span class="soft"
          >#${number} · ${author} · ${formatDay(created_at)} · ${m.commentCount({ count: comments })}</span
        >
      </li>`,
  );
  const state = closed ? 'closed' : 'open';
  const next =
    result.total > page * perPage
      ? html`<p><a href="?state=${state}&amp;page=${page + 1}">${m.moreEntries()}</a></p>`
      : undefined;
  const list =
    rows.length === 0
      ? html`<p class="text">${closed ? m.noClosedEntries({ kind }) : m.noOpenEntries({ kind })}</p>`
      : html`<ul class="rows">
          ${rows}
        </ul>`;
  const body = html`<div class="card">
      <header>
        <a href="?state=open">${pull ? m.openPulls() : m.openIssues()}</a> ·
        <a href="?state=closed">${pull ? m.closedPulls() : m.closedIssues()}</a>
      </header>
      ${list}
    </div>
    ${next}`;
  return { title: pull ? m.pullRequests() : m.issues(), tab: kind, body };
}

/** Renders an issue or a pull request with its comments. */
export async function renderIssuePage(request: PageRequest, number: number): Promise<VisitorPage | undefined> {
  const { deps, repository } = request;
  const issue = await deps.collaboration.issues.find(repository.id, number);
  if (issue === undefined) return undefined;
  const entries = await deps.storage.db
    .selectFrom('issue_entries')
    .selectAll()
    .where('issue_id', '=', issue.id)
    .where('kind', 'in', ['comment', 'review', 'code'])
    .where(isVisibleTo(undefined))
    .orderBy('id')
    .limit(500)
    .execute();
  const commentSections = entries
    .filter(({ body }) => body !== '')
    .map(({ author, body, created_at, id }) => renderEntry(`issuecomment-${id}`, author, created_at, body));
  const state = formatState(issue);
  const labels = issue.labels.map(({ name }) => name).join(', ');
  const body = html`<header>
      <h2>${issue.title} <span class="soft">#${number}</span></h2>
      <p class="soft">${state}${labels === '' ? '' : ` · ${labels}`}</p>
    </header>
    ${renderEntry('', issue.author, issue.created_at, issue.body)}${commentSections}${await renderChanges(request, number)}`;
  return { title: `${issue.title} #${number}`, tab: isPull(issue) ? 'pulls' : 'issues', body };
}

/** Returns the state of an issue or a pull request, which are nouns of different gender in some languages. */
function formatState(issue: Issue): string {
  const isClosed = issue.closed === 1;
  if (!isPull(issue)) return isClosed ? m.issueClosed() : m.issueOpen();
  if (issue.request.merged_at !== null) return m.stateMerged();
  return isClosed ? m.pullClosed() : m.pullOpen();
}

function renderEntry(id: string, author: string, time: number, text: string): Html {
  return html`<section class="card" id="${id}">
    <header class="soft">${author} · ${formatDay(time)}</header>
    <div class="text">${renderText(text)}</div>
  </section>`;
}

/** Renders the changes of a pull request, at `/pulls/1/files`. */
async function renderChanges({ address, deps, repository }: PageRequest, number: number): Promise<Html | undefined> {
  if (address.rest[1] !== 'files') return undefined;
  const folder = deps.storage.manager.getFolder(repository);
  const head = await deps.storage.objects.findCommit(folder, `refs/pull/${number}/head`);
  const issue = await deps.collaboration.issues.find(repository.id, number);
  const base =
    issue?.request === undefined
      ? undefined
      : await deps.storage.objects.findCommit(folder, `refs/heads/${issue.request.base_branch}`);
  if (head === undefined || base === undefined) return undefined;
  const { stdout } = await deps.storage.git.run(folder, ['merge-base', base, head], { allowedExitCodes: [1] });
  const from = stdout.toString().trim();
  return from === '' ? undefined : renderDiff(await compareDiffs(deps.storage.git, folder, from, head));
}

export async function renderReleasesPage({
  address,
  home,
  deps,
  repository,
}: PageRequest): Promise<VisitorPage | undefined> {
  const allReleases = await deps.features.releases.list(repository.id, { drafts: false });
  const [first = '', ...tag] = address.rest;
  const matching = first === 'tag' ? allReleases.filter((each) => each.tag === tag.join('/')) : allReleases;
  const releases =
    first === 'latest' ? allReleases.filter(({ prerelease }) => prerelease === 0).slice(0, 1) : matching.slice(0, 50);
  if (first === 'tag' && releases.length === 0)
    return renderTagPage(
      { home, manager: deps.storage.manager, objects: deps.storage.objects, repository },
      tag.join('/'),
    );
  if (first === 'latest' && releases.length === 0) return undefined;
  const sections = await Promise.all(
    releases.map(async ({ author, body, id, published_at, tag: name, title }) => {
      const encodedTag = name.split('/').map(encodeURIComponent).join('/');
      const assets = await deps.features.releases.assets(id);
      const files = assets.map(
        (asset) =>
          html`<li>
            <a href="${home}/releases/download/${encodedTag}/${encodeURIComponent(asset.name)}">${asset.name}</a>
          </li>`,
      );
      return html`<section class="card">
        <header>
          <h2><a href="${home}/releases/tag/${encodedTag}">${title === '' ? name : title}</a></h2>
          <p class="soft">${name} · ${author} · ${formatDay(published_at)}</p>
        </header>
        <div class="text">${renderText(body)}</div>
        <ul class="rows">
          ${files} ${renderArchiveRows(home, encodedTag)}
        </ul>
      </section>`;
    }),
  );
  const emptyState = html`<p>${m.noReleases()}</p>`;
  return { title: m.releases(), tab: 'releases', body: sections.length === 0 ? emptyState : html`${sections}` };
}

/** Renders a tag without a release. */
async function renderTagPage(
  {
    home,
    manager,
    objects,
    repository,
  }: Pick<RepositoryStorage, 'manager' | 'objects'> & Pick<PageRequest, 'home' | 'repository'>,
  name: string,
): Promise<VisitorPage | undefined> {
  const revision = await resolveByKind('tag', objects, manager.getFolder(repository), name);
  if (revision === undefined) return undefined;
  const encodedTag = name.split('/').map(encodeURIComponent).join('/');
  const body = html`<section class="card">
    <header>
      <h2><a href="${home}/src/tag/${encodedTag}">${name}</a></h2>
      <p class="soft"><a href="${home}/commit/${revision.commit}">${revision.commit.slice(0, 10)}</a></p>
    </header>
    <ul class="rows">
      ${renderArchiveRows(home, encodedTag)}
    </ul>
  </section>`;
  return { title: name, tab: 'releases', body };
}

function renderArchiveRows(home: string, encodedTag: string): Html {
  return html`<li><a href="${home}/archive/${encodedTag}.zip">${m.sourceZip()}</a></li>
    <li><a href="${home}/archive/${encodedTag}.tar.gz">${m.sourceTarGz()}</a></li>`;
}
