import type { RouteAccess } from '../../contracts/route-access.ts';
import { escapeHtml } from '../../kit/escape-html.ts';
import { buildPageHeaders, renderHtmlDocument } from '../../kit/http/html-document.ts';
import { readDocument, type Operation, type Parameter } from './operations.ts';
import { formatSchema, type Schema } from './schema-text.ts';
import { style } from './style.ts';

/** Header fields of the page. */
export const apiPageHeaders = buildPageHeaders(style);

/** Private character in the place of the address of the API, so that a page is rendered once for all addresses. */
const basePlaceholder = '\ue002';
const pages = new WeakMap<object, string>();

/**
 * Renders the page that documents the app API, from its OpenAPI document. Each operation has an anchor with its
 * operation ID, each named schema the anchor `schema-<name>`.
 * @param base address of the API, for the examples, such as `http://127.0.0.1:7700`
 */
export function renderApiPage(document: object, base: string): string {
  const page = pages.get(document) ?? renderDocument(document);
  pages.set(document, page);
  return page.replaceAll(basePlaceholder, () => escapeHtml(base));
}

function renderDocument(document: object): string {
  const { operations, schemas } = readDocument(document);
  const groups = Map.groupBy(operations, ({ group }) => group);
  const names = [...groups.keys()].toSorted();
  const links = [...names.map((name) => [name, name] as const), ['schemas', 'Schemas'] as const];
  const body = `<header>
<h1>Homeport API</h1>
<p>Authenticate with an access token (<code>Authorization: Bearer …</code>) or with the name and password of an account.
This API is also described in an <a href="/api/openapi.json">OpenAPI document</a>.</p>
</header>
<nav aria-label="API sections"><ul>${links.map(([id, text]) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`).join('')}</ul></nav>
<main>
${names.map((name) => renderGroup(name, groups.get(name) ?? [])).join('\n')}
<section aria-labelledby="schemas">
<h2 id="schemas">Schemas</h2>
${Object.entries(schemas)
  .toSorted(([one], [other]) => (one < other ? -1 : 1))
  .map(([name, schema]) => `<h3 id="schema-${escapeHtml(name)}">${escapeHtml(name)}</h3>\n${renderSchema(schema)}`)
  .join('\n')}
</section>
</main>`;
  return renderHtmlDocument('Homeport API', `<style>${style}</style>`, body);
}

function renderGroup(name: string, operations: readonly Operation[]): string {
  return `<section aria-labelledby="${escapeHtml(name)}">
<h2 id="${escapeHtml(name)}">${escapeHtml(name)}</h2>
${operations.map((operation) => renderOperation(operation)).join('\n')}
</section>`;
}

function renderOperation(operation: Operation): string {
  const { id, method, path, summary, access, parameters, body, reply } = operation;
  const parts = [
    ['Access', `<p>${escapeHtml(describeAccess(access))}</p>`],
    ['Parameters', renderParameters(parameters)],
    ['Body', body === 'bytes' ? '<p>The contents of a file.</p>' : renderSchema(body)],
    ['Response', reply === 'file' ? '<p>A file.</p>' : renderSchema(reply)],
    ['Example', `<pre tabindex="0"><code>${escapeHtml(buildExample(operation))}</code></pre>`],
  ] as const;
  return `<details id="${escapeHtml(id)}">
<summary><code class="method">${method}</code><code>${escapeHtml(path)}</code><span class="text">${escapeHtml(summary)}</span></summary>
<div class="content">
${parts
  .filter(([, html]) => html !== '')
  .map(([title, html]) => `<h3>${title}</h3>\n${html}`)
  .join('\n')}
</div>
</details>`;
}

function describeAccess(access: RouteAccess): string {
  switch (access) {
    case 'public':
      return 'Everyone, without a sign-in.';
    case 'user':
      return 'All accounts.';
    case 'objects':
      return 'All accounts, for the objects that they can access.';
    case 'admin':
      return 'Administrators.';
    default: {
      const { service, permission, resource } = access;
      const target = resource === '*' ? service : `${resource} in ${service}`;
      return `Accounts with ${permission} access to ${target}.`;
    }
  }
}

function renderParameters(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(({ name, in: place, required, description, schema }) => {
    const type = formatSchema(schema, (reference) => reference);
    const facts = [`${type}, in the ${place}`, ...(required ? ['required'] : []), description];
    const text = facts.filter((fact) => fact !== '').join('. ');
    return `<dt><code>${escapeHtml(name)}</code></dt><dd>${escapeHtml(text)}</dd>`;
  });
  return `<dl>${rows.join('')}</dl>`;
}

/** Renders a schema as text with links to named schemas; empty without a schema. */
function renderSchema(schema: Schema | undefined): string {
  if (schema === undefined) return '';
  // References are marked with private characters, and become links after the text was escaped.
  const text = formatSchema(schema, (name) => `\ue000${name}\ue001`);
  const html = escapeHtml(text).replaceAll(
    /\ue000([^\ue001]*)\ue001/g,
    (_match, name: string) => `<a href="#schema-${name}">${name}</a>`,
  );
  return `<pre tabindex="0"><code>${html}</code></pre>`;
}

/** Builds a curl command for an operation. Values to fill in are in capitals. */
function buildExample({ method, path, access, parameters, body, reply }: Operation): string {
  const query = parameters.filter((each) => each.in === 'query' && each.required);
  const queryText = query.map(({ name }) => `${name}=${name.toUpperCase()}`).join('&');
  const address = basePlaceholder + path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => name.toUpperCase());
  return [
    'curl',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...(access === 'public' ? [] : ["-H 'Authorization: Bearer TOKEN'"]),
    ...(body === undefined ? [] : body === 'bytes' ? ['--data-binary @FILE'] : ["--json '{ … }'"]),
    ...(reply === 'file' ? ['-O'] : []),
    queryText === '' ? address : `'${address}?${queryText}'`,
  ].join(' ');
}
