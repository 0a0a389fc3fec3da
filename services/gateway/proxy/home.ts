import * as m from '#messages/gateway-texts';
import type { DispatchTarget } from '../../contracts/dispatch.ts';
import { escapeHtml } from '../../kit/escape-html.ts';
import { renderRichHtml, toStrong } from '../../kit/rich-html.ts';
import { getBaseName, getServiceName } from '../domain/names.ts';
import { renderPage } from '../pages/html.ts';
import { renderServiceIcon } from '../pages/service-icons.ts';

interface Home {
  readonly label: string;
  readonly port: number;
  /** Returns whether the service also responds at a path of this host. */
  readonly hasPath: (id: string) => boolean;
}

/** Renders the shared services for the members of a household. */
export function renderHomePage(shared: readonly DispatchTarget[], home: Home): string {
  const name = getBaseName(home.label);
  const introduction = shared.length === 0 ? m.homeNothingShared({ name }) : m.homeSharedHere({ name });
  return renderPage(
    m.homeTitle(),
    `<h1>${escapeHtml(m.homeTitle())}</h1>
<p>${renderRichHtml(introduction, { computer: toStrong })}</p>
${shared.length === 0 ? '' : renderServices(shared, home)}
<p class="session"><a href="/.homeport/session">${escapeHtml(m.yourSignIn())}</a></p>`,
    { isWide: shared.length > 1 },
  );
}

function renderServices(shared: readonly DispatchTarget[], home: Home): string {
  // The app leads to all services, so it comes first.
  const sorted = shared.toSorted((a, b) => Number(b.id === 'control') - Number(a.id === 'control'));
  const addresses = sorted.map(
    ({ id, title }) => `<dt>${escapeHtml(title)}</dt><dd><code>${escapeHtml(getUrl(id, home))}</code></dd>`,
  );
  return `<ul class="shared">
${sorted.map((target) => renderService(target, home)).join('\n')}
</ul>
<details><summary>${escapeHtml(m.homeAddresses())}</summary><dl class="addresses">${addresses.join('')}</dl></details>`;
}

function renderService({ id, title, sharedSummary }: DispatchTarget, home: Home): string {
  const href = home.hasPath(id) ? `/${id}/` : getUrl(id, home);
  const label = `<strong>${escapeHtml(title)}</strong><small>${escapeHtml(sharedSummary)}</small>`;
  return `<li><a href="${escapeHtml(href)}">${renderServiceIcon(id)}<span>${label}</span></a></li>`;
}

function getUrl(id: string, { label, port }: Home): string {
  return `https://${getServiceName(id, label)}:${String(port)}/`;
}
