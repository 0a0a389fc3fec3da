import type { DispatchTarget } from '../../contracts/dispatch.ts';
import { escapeHtml } from '../../kit/escape-html.ts';
import { getBaseName, getServiceName } from '../domain/names.ts';
import { renderPage } from '../pages/html.ts';

/** Renders the list of shared services. */
export function renderHomePage(
  shared: readonly DispatchTarget[],
  { label, port }: { readonly label: string; readonly port: number },
  hasPath: (id: string) => boolean,
): string {
  const items = shared.map(({ id, title, summary }) => {
    const nameUrl = `https://${getServiceName(id, label)}:${String(port)}/`;
    const href = hasPath(id) ? `/${id}/` : nameUrl;
    return (
      `<li><a href="${href}">${escapeHtml(title)}</a>` +
      `${summary === '' ? '' : `<br>${escapeHtml(summary)}`}<br><code>${escapeHtml(nameUrl)}</code></li>`
    );
  });
  return renderPage(
    getBaseName(label),
    `<h1>${escapeHtml(getBaseName(label))}</h1>
<p>What is shared on this network:</p>
<ul class="shared">
${items.join('\n')}
</ul>
<p><a href="/.homeport/session">Your sign-in</a></p>`,
  );
}
