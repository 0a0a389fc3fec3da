import type { DispatchTarget } from '../../contracts/dispatch.ts';
import { escapeHtml } from '../../kit/escape-html.ts';
import { baseName, serviceName } from '../domain/names.ts';
import { page } from './html.ts';

/** Renders the list of shared services. */
export function homePage(
  shared: readonly DispatchTarget[],
  { label, port }: { readonly label: string; readonly port: number },
  hasPath: (id: string) => boolean,
): string {
  const items = shared.map(({ id, title, summary }) => {
    const named = `https://${serviceName(id, label)}:${String(port)}/`;
    const href = hasPath(id) ? `/${id}/` : named;
    return `<li><a href="${href}">${escapeHtml(title)}</a>${summary === '' ? '' : `<br>${escapeHtml(summary)}`}<br><code>${escapeHtml(named)}</code></li>`;
  });
  return page(
    baseName(label),
    `<h1>${escapeHtml(baseName(label))}</h1>
<p>What is shared on this network:</p>
<ul class="shared">
${items.join('\n')}
</ul>
<p><a href="/.homeport/session">Your sign-in</a></p>`,
  );
}
