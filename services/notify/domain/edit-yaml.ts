import { isSeq, parseDocument, type Document } from 'yaml';

function parseFailsafe(text: string): Document.Parsed {
  return parseDocument(text, { schema: 'failsafe', logLevel: 'silent' });
}

function buildItem(url: string, tags: readonly string[]): string | Readonly<Record<string, unknown>> {
  return tags.length === 0 ? url : { [url]: { tag: tags.join(', ') } };
}

/** Appends a destination to `urls`; comments are kept. */
export function appendYamlDestination(text: string, url: string, tags: readonly string[]): string {
  const document = parseFailsafe(text);
  const urls: unknown = document.get('urls');
  if (urls === undefined) document.set('urls', document.createNode([buildItem(url, tags)]));
  else if (isSeq(urls)) document.addIn(['urls'], document.createNode(buildItem(url, tags)));
  else document.set('urls', document.createNode([document.get('urls', true), buildItem(url, tags)]));
  return document.toString({ lineWidth: 0 });
}

/** Removes the destination at a path, and lists that become empty. */
export function removeYamlDestination(text: string, path: readonly (string | number)[]): string {
  const document = parseFailsafe(text);
  document.deleteIn(path);
  for (let length = path.length - 1; length > 1; length -= 1) {
    const parent: unknown = document.getIn(path.slice(0, length));
    const remainingItems = (parent as { readonly items?: readonly unknown[] } | undefined)?.items;
    if (remainingItems?.length !== 0) break;
    document.deleteIn(path.slice(0, length));
  }
  return document.toString({ lineWidth: 0 });
}

/** Replaces a destination. It moves to the end, because its form in the document may not be editable. */
export function replaceYamlDestination(
  text: string,
  path: readonly (string | number)[],
  url: string,
  tags: readonly string[],
): string {
  const removed = removeYamlDestination(text, path);
  return appendYamlDestination(removed, url, tags);
}
