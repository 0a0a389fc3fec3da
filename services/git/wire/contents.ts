import type { Commit } from '../repositories/commits.ts';
import type { RefView } from '../repositories/revisions.ts';
import type { RepositoryAddress } from './commits.ts';
import { gitTime } from './time.ts';

/** File or folder at a commit. */
export interface Entry {
  readonly path: string;
  readonly mode: string;
  readonly id: string;
  readonly size: number;
  /** Newest commit that changed it. */
  readonly last: Commit | undefined;
  /** URL in `.gitmodules`, for a submodule. */
  readonly submodule?: string | undefined;
}

const kinds: Readonly<Record<string, string>> = { '040000': 'dir', '160000': 'submodule', '120000': 'symlink' };

/** Converts an entry to JSON, with its content when `bytes` is set. */
export function contentJson(entry: Entry, ref: RefView, { base, full }: RepositoryAddress, bytes?: Buffer) {
  const type = kinds[entry.mode] ?? 'file';
  const path = entry.path.split('/').map(encodeURIComponent).join('/');
  const encodedName = ref.name.split('/').map(encodeURIComponent).join('/');
  const self = `${base}/api/v1/repos/${full}/contents/${path}?ref=${encodeURIComponent(ref.name)}`;
  const html = `${base}/${full}/src/${ref.kind}/${encodedName}/${path}`;
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
    download_url: isFile ? `${base}/${full}/raw/${ref.kind}/${encodedName}/${path}` : null,
    submodule_git_url: entry.submodule ?? null,
    _links: { self, git, html },
  };
}
