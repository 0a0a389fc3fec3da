import type { Commit } from '../repositories/commits.ts';
import type { Place } from './commits.ts';
import { gitTime } from './time.ts';

/** A file or folder at a commit. */
export interface Entry {
  readonly path: string;
  readonly mode: string;
  readonly id: string;
  readonly size: number;
  /** The newest commit that changed it. */
  readonly last: Commit | undefined;
  /** Of a submodule: the address that `.gitmodules` names. */
  readonly submodule?: string | undefined;
}

/** How an address names a commit: by a branch, a tag or its id. */
export interface RefView {
  readonly kind: 'branch' | 'tag' | 'commit';
  readonly name: string;
}

const kinds: Readonly<Record<string, string>> = { '040000': 'dir', '160000': 'submodule', '120000': 'symlink' };

/** `bytes` where the content goes along, as for a file that is asked for by itself. */
export function contentJson(entry: Entry, ref: RefView, { base, full }: Place, bytes?: Buffer) {
  const type = kinds[entry.mode] ?? 'file';
  const path = entry.path.split('/').map(encodeURIComponent).join('/');
  const named = ref.name.split('/').map(encodeURIComponent).join('/');
  const self = `${base}/api/v1/repos/${full}/contents/${path}?ref=${encodeURIComponent(ref.name)}`;
  const html = `${base}/${full}/src/${ref.kind}/${named}/${path}`;
  const objects = type === 'dir' ? 'trees' : 'blobs';
  const git = type === 'submodule' ? null : `${base}/api/v1/repos/${full}/git/${objects}/${entry.id}`;
  const isFile = type === 'file' || type === 'symlink';
  return {
    name: entry.path.slice(entry.path.lastIndexOf('/') + 1),
    path: entry.path,
    sha: entry.id,
    last_commit_sha: entry.last?.id ?? null,
    last_committer_date: entry.last === undefined ? null : gitTime(entry.last.committer.date),
    last_author_date: entry.last === undefined ? null : gitTime(entry.last.author.date),
    type,
    size: entry.size,
    encoding: isFile && bytes !== undefined ? 'base64' : null,
    content: isFile && bytes !== undefined ? bytes.toString('base64') : null,
    target: type === 'symlink' && bytes !== undefined ? bytes.toString('utf8') : null,
    url: self,
    html_url: html,
    git_url: git,
    download_url: isFile ? `${base}/${full}/raw/${ref.kind}/${named}/${path}` : null,
    submodule_git_url: entry.submodule ?? null,
    _links: { self, git, html },
  };
}
