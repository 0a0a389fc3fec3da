import { renderMarkdown } from '../domain/markdown.ts';
import { seenBy } from '../issues/entry-visibility.ts';
import { compareDiffs } from '../app-api/diffs.ts';
import { isPull } from '../pulls/pulls.ts';
import { diffOf } from './code-pages.ts';
import { Html, html } from './html.ts';
import type { PageRequest, VisitorPage } from './page-request.ts';

const perPage = 50;

function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function markdown(text: string): Html {
  return new Html(renderMarkdown(text));
}

/** Renders the list of open or closed issues or pull requests. */
export async function issuesPage({ address, home, parts, query, repository }: PageRequest): Promise<VisitorPage> {
  const pull = address.kind === 'pulls';
  const closed = query.get('state') === 'closed';
  const page = Math.max(1, Math.min(10_000, Number(query.get('page') ?? '') || 1));
  const words = query.get('q') ?? '';
  const wanted = { in: repository.id, pull, closed, words, limit: perPage, offset: (page - 1) * perPage };
  const found = await parts.issues.list(wanted);
  const rows = found.issues.map(
    ({ author, comments, created_at, number, title }) =>
      html`<li>
        <a href="${home}/${address.kind}/${number}">${title}</a>
        <span class="soft">#${number} · ${author} · ${day(created_at)} · ${comments} comments</span>
      </li>`,
  );
  const state = closed ? 'closed' : 'open';
  const next =
    found.total > page * perPage ? html`<p><a href="?state=${state}&amp;page=${page + 1}">More</a></p>` : undefined;
  const list =
    rows.length === 0
      ? html`<p class="text">None are ${state}.</p>`
      : html`<ul class="rows">
          ${rows}
        </ul>`;
  const body = html`<div class="card">
      <header><a href="?state=open">Open</a> · <a href="?state=closed">Closed</a></header>
      ${list}
    </div>
    ${next}`;
  return { title: pull ? 'Pull requests' : 'Issues', tab: address.kind, body };
}

/** Renders an issue or a pull request with its comments. */
export async function issuePage(request: PageRequest, number: number): Promise<VisitorPage | undefined> {
  const { parts, repository } = request;
  const issue = await parts.issues.find(repository.id, number);
  if (issue === undefined) return undefined;
  const entries = await parts.db
    .selectFrom('issue_entries')
    .selectAll()
    .where('issue_id', '=', issue.id)
    .where('kind', 'in', ['comment', 'review', 'code'])
    .where(seenBy(undefined))
    .orderBy('id')
    .limit(500)
    .execute();
  const said = entries
    .filter(({ body }) => body !== '')
    .map(({ author, body, created_at, id }) => entryBody(`issuecomment-${id}`, author, created_at, body));
  const merged = issue.request !== undefined && issue.request.merged_at !== null;
  const state = merged ? 'merged' : issue.closed === 1 ? 'closed' : 'open';
  const labels = issue.labels.map(({ name }) => name).join(', ');
  const body = html`<header>
      <h2>${issue.title} <span class="soft">#${number}</span></h2>
      <p class="soft">${state}${labels === '' ? '' : ` · ${labels}`}</p>
    </header>
    ${entryBody('', issue.author, issue.created_at, issue.body)}${said}${await changesOf(request, number)}`;
  return { title: `${issue.title} #${number}`, tab: isPull(issue) ? 'pulls' : 'issues', body };
}

function entryBody(id: string, author: string, time: number, text: string): Html {
  return html`<section class="card" id="${id}">
    <header class="soft">${author} · ${day(time)}</header>
    <div class="text">${markdown(text)}</div>
  </section>`;
}

/** Renders the changes of a pull request, at `/pulls/1/files`. */
async function changesOf({ address, parts, repository }: PageRequest, number: number): Promise<Html | undefined> {
  if (address.rest[1] !== 'files') return undefined;
  const folder = parts.manager.folder(repository);
  const head = await parts.objects.commitOf(folder, `refs/pull/${number}/head`);
  const issue = await parts.issues.find(repository.id, number);
  const base =
    issue?.request === undefined
      ? undefined
      : await parts.objects.commitOf(folder, `refs/heads/${issue.request.base_branch}`);
  if (head === undefined || base === undefined) return undefined;
  const { stdout } = await parts.git.run(folder, ['merge-base', base, head], { codes: [1] });
  const from = stdout.toString().trim();
  return from === '' ? undefined : diffOf(await compareDiffs(parts.git, folder, from, head));
}

export async function releasesPage({
  address,
  home,
  parts,
  repository,
}: PageRequest): Promise<VisitorPage | undefined> {
  const all = await parts.releases.list(repository.id, { drafts: false });
  const [first = '', ...tag] = address.rest;
  const wanted = first === 'tag' ? all.filter((each) => each.tag === tag.join('/')) : all;
  const releases =
    first === 'latest' ? all.filter(({ prerelease }) => prerelease === 0).slice(0, 1) : wanted.slice(0, 50);
  if ((first === 'tag' || first === 'latest') && releases.length === 0) return undefined;
  const shown = await Promise.all(
    releases.map(async ({ author, body, id, published_at, tag: name, title }) => {
      const place = name.split('/').map(encodeURIComponent).join('/');
      const assets = await parts.releases.assets(id);
      const files = assets.map(
        (asset) =>
          html`<li>
            <a href="${home}/releases/download/${place}/${encodeURIComponent(asset.name)}">${asset.name}</a>
          </li>`,
      );
      return html`<section class="card">
        <header>
          <h2><a href="${home}/releases/tag/${place}">${title === '' ? name : title}</a></h2>
          <p class="soft">${name} · ${author} · ${day(published_at)}</p>
        </header>
        <div class="text">${markdown(body)}</div>
        <ul class="rows">
          ${files}
          <li><a href="${home}/archive/${place}.zip">Source code (ZIP)</a></li>
          <li><a href="${home}/archive/${place}.tar.gz">Source code (TAR.GZ)</a></li>
        </ul>
      </section>`;
    }),
  );
  const none = html`<p>There are no releases yet.</p>`;
  return { title: 'Releases', tab: 'releases', body: shown.length === 0 ? none : html`${shown}` };
}
