import { pathOf } from '../../state/address.ts';

/** What is shown of a repository. */
export interface CodePlace {
  readonly ref?: string;
  readonly path?: string;
  /** `commits`, `issues`, `pulls`, `labels`, or the commit that is open. */
  readonly show?: string;
  readonly commit?: string;
  /** Of an issue or a pull request, and which part of it. */
  readonly number?: string;
  readonly view?: string;
  /** Which issues of a list. */
  readonly label?: string;
  readonly milestone?: string;
}

/** How an address names a repository: neither name can hold the sign between them. */
export function idOf({ owner, name }: { readonly owner: string; readonly name: string }): string {
  return `${owner}~${name}`;
}

export function repositoryOf(id: string): { readonly owner: string; readonly name: string } {
  const [owner = '', name = ''] = id.split('~', 2);
  return { owner, name };
}

/** The address of a place in a repository. */
export function hrefOf(repository: { readonly owner: string; readonly name: string }, at: CodePlace = {}): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(at) as [string, string | undefined][]) {
    if (value !== undefined && value !== '') query.set(key, value);
  }
  const path = pathOf({ service: 'git', thing: 'repositories', id: idOf(repository) });
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}
