import * as m from '#messages/git-texts';
import { parseWebAddress, type WebAddress } from '../../contracts/git/web-addresses.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Answer } from '../gitea-api/call.ts';
import { anonymousCaller } from '../sign-in/caller.ts';
import {
  renderBranchPage,
  renderCommitPage,
  renderComparePage,
  renderHistoryPage,
  renderTreePage,
} from './code-pages.ts';
import type { PageRequest, VisitorPage } from './page-request.ts';
import { Html, html, visitorDocument, visitorPolicy } from './html.ts';
import { renderIssuePage, renderIssuesPage, renderReleasesPage } from './issue-pages.ts';
import { pageScript, pageScriptSource } from './page-script.ts';

type Dependencies = PageRequest['deps'];

const tabs = [
  ['code', m.code, ''],
  ['commits', m.commits, '/commits'],
  ['issues', m.issues, '/issues'],
  ['pulls', m.pullRequests, '/pulls'],
  ['releases', m.releases, '/releases'],
  ['branches', m.branchesAndTags, '/branches'],
] as const;

/**
 * Renders a page for visitors without an account: a public repository, the public repositories of an owner, or all
 * public repositories. Returns undefined for content that is not public and for other addresses.
 */
export async function renderVisitorPage(
  deps: Dependencies,
  url: URL,
  { base, app }: { readonly base: string; readonly app: string | undefined },
): Promise<Answer | undefined> {
  const isList = /^\/*$/.test(url.pathname) || url.pathname.startsWith('/explore');
  const address = isList ? undefined : parseWebAddress(url.pathname);
  if (isList || address?.name === '') return renderOwnerPage(deps, address?.owner, base, app);
  if (address === undefined) return undefined;
  const result = await deps.accessControl.lookup.find(anonymousCaller, address.owner, address.name);
  if (result === undefined) return redirectRenamed(deps, address, url, base);
  const { repository } = result;
  const home = `${base}/${encodeURIComponent(repository.owner)}/${encodeURIComponent(repository.name)}`;
  const page = await renderPage({ deps, repository, address, query: url.searchParams, home });
  if (page === undefined) throw buildNotFoundProblem();
  const title = `${page.title} · ${repository.owner}/${repository.name}`;
  return buildDocumentResponse(title, repositoryFrame(repository, home, page), app);
}

/** Redirects the address of a renamed repository. */
async function redirectRenamed(
  { accessControl: { lookup } }: Dependencies,
  { owner, name }: WebAddress,
  url: URL,
  base: string,
): Promise<Answer | undefined> {
  const current = await lookup.findRenamed(anonymousCaller, owner, name);
  if (current === undefined) return undefined;
  const rest = url.pathname.split('/').slice(3).join('/');
  const encodedName = [current.owner, current.name].map(encodeURIComponent).join('/');
  return { status: 302, headers: { Location: `${base}/${encodedName}${rest === '' ? '' : `/${rest}`}${url.search}` } };
}

function renderPage(request: PageRequest): Promise<VisitorPage | undefined> {
  const [first = ''] = request.address.rest;
  switch (request.address.kind) {
    case 'commits':
      return renderHistoryPage(request);
    case 'commit':
      return renderCommitPage(request, first);
    case 'compare':
      return renderComparePage(request);
    case 'milestone':
      return renderIssuesPage(request);
    case 'issues':
    case 'pulls':
      return /^\d+$/.test(first) ? renderIssuePage(request, Number(first)) : renderIssuesPage(request);
    case 'releases':
      return renderReleasesPage(request);
    case 'branches':
    case 'tags':
      return renderBranchPage(request);
    default:
      return renderTreePage(request);
  }
}

function repositoryFrame({ owner, name, description }: Repository, home: string, { body, tab }: VisitorPage): Html {
  const links = tabs.map(([id, title, path]) =>
    id === tab
      ? html`<a href="${home}${path}" aria-current="page">${title()}</a>`
      : html`<a href="${home}${path}">${title()}</a>`,
  );
  const address = `${home}.git`;
  return html`<header>
      <h1><a href="${home}">${owner}/${name}</a></h1>
      <p class="soft">${description}</p>
      <p class="clone">
        <code>${address}</code
        ><button hidden data-copy="${address}" data-done="${m.copied()}">${m.copyAddress()}</button>
      </p>
    </header>
    <nav aria-label="${m.repository()}">${links}</nav>
    ${body}`;
}

/** Renders the public repositories of an owner, or of all owners. */
async function renderOwnerPage(
  deps: Dependencies,
  owner: string | undefined,
  base: string,
  app: string | undefined,
): Promise<Answer | undefined> {
  const visibility = await deps.accessControl.access.getVisibility(anonymousCaller);
  const query = { visibility, sort: 'updated' as const, descending: true, limit: 200, offset: 0 };
  const result = await deps.storage.repositories.list({ ...query, ...(owner === undefined ? {} : { owner }) });
  // An owner without public repositories is treated like one that does not exist.
  if (result.total === 0) return undefined;
  const rows = result.repositories.map(({ owner: ownerName, name, description }) => {
    const address = `${base}/${encodeURIComponent(ownerName)}/${encodeURIComponent(name)}`;
    return html`<li><a href="${address}">${ownerName}/${name}</a><span class="soft">${description}</span></li>`;
  });
  const title =
    owner === undefined
      ? m.publicRepositories()
      : m.publicRepositoriesOf({ owner: result.repositories[0]?.owner ?? owner });
  const body = html`<header>
      <h1>${title}</h1>
    </header>
    <div class="card">
      <ul class="rows">
        ${rows}
      </ul>
    </div>`;
  return buildDocumentResponse(title, body, app);
}

function buildDocumentResponse(title: string, body: Html, app: string | undefined): Answer {
  const signInLink = app === undefined ? undefined : html`<a href="${app}">${m.signIn()}</a>`;
  const script = new Html(`<script>${pageScript}</script>`);
  const text = visitorDocument(title, html`${body}${script}`, signInLink);
  return {
    status: 200,
    text,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Length': Buffer.byteLength(text),
      'Content-Security-Policy': `${visitorPolicy}; script-src ${pageScriptSource}`,
      'Cache-Control': 'no-cache',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Accept, Accept-Language, Cookie',
    },
  };
}
