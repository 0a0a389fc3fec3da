import * as m from '#messages/gateway-texts';
import type { Problem } from '../../contracts/problem.ts';
import { escapeHtml } from '../../kit/escape-html.ts';
import { renderPage } from './html.ts';

interface ProblemPageOptions {
  /** The list of shared services is at the root of this address. */
  readonly hasHome: boolean;
}

/** Renders an error for browsers. */
export function renderProblemPage(
  { status, detail }: Pick<Problem, 'status' | 'detail'>,
  { hasHome }: ProblemPageOptions,
): string {
  const title = getTitle(status);
  const hint = status === 404 ? `\n<p>${escapeHtml(m.notFoundHint())}</p>` : '';
  const home = status === 404 && hasHome ? `\n<a class="button wide" href="/">${escapeHtml(m.showServices())}</a>` : '';
  return renderPage(title, `<h1>${escapeHtml(title)}</h1>\n<p>${escapeHtml(detail)}</p>${hint}${home}`);
}

function getTitle(status: number): string {
  if (status === 404) return m.notFoundTitle();
  return status >= 500 ? m.unavailableTitle() : m.notAllowedTitle();
}
