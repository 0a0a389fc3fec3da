import { isSeq, parseDocument, type Document } from 'yaml';

function open(text: string): Document.Parsed {
  return parseDocument(text, { schema: 'failsafe', logLevel: 'silent' });
}

function item(url: string, tags: readonly string[]): string | Readonly<Record<string, unknown>> {
  return tags.length === 0 ? url : { [url]: { tag: tags.join(', ') } };
}

/** The document with a destination more at the end of its `urls`; its comments stay. */
export function withYamlDestination(text: string, url: string, tags: readonly string[]): string {
  const document = open(text);
  const urls: unknown = document.get('urls');
  if (urls === undefined) document.set('urls', document.createNode([item(url, tags)]));
  else if (isSeq(urls)) document.addIn(['urls'], document.createNode(item(url, tags)));
  else document.set('urls', document.createNode([document.get('urls', true), item(url, tags)]));
  return document.toString({ lineWidth: 0 });
}

/** The document without the destination at a path, and without what is empty then. */
export function withoutYamlDestination(text: string, path: readonly (string | number)[]): string {
  const document = open(text);
  document.deleteIn(path);
  for (let length = path.length - 1; length > 1; length -= 1) {
    const above: unknown = document.getIn(path.slice(0, length));
    const left = (above as { readonly items?: readonly unknown[] } | undefined)?.items;
    if (left?.length !== 0) break;
    document.deleteIn(path.slice(0, length));
  }
  return document.toString({ lineWidth: 0 });
}

/** The document with a destination's address and tags changed; it moves to the end, where its own form is not in the way. */
export function withYamlEntry(
  text: string,
  path: readonly (string | number)[],
  url: string,
  tags: readonly string[],
): string {
  const removed = withoutYamlDestination(text, path);
  return withYamlDestination(removed, url, tags);
}
