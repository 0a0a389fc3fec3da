import type { Commit, FileChange, Signature } from '../repositories/commits.ts';
import type { Reference } from '../repositories/references.ts';
import { gitTime, zeroTime } from './time.ts';

/** Verification of every commit, because signatures are not checked. */
export const unverified = {
  verified: false,
  reason: 'gpg.error.not_signed_commit',
  signature: '',
  signer: null,
  payload: '',
};

/** Address of a repository, for the URLs in a response. */
export interface RepositoryAddress {
  /** `http://host:3030` */
  readonly base: string;
  /** `owner/name` */
  readonly full: string;
}

export interface CommitOptions {
  /** Changed files; undefined when they were not requested. */
  readonly changes?: readonly FileChange[] | undefined;
  readonly stat: boolean;
  readonly files: boolean;
  /** Returns the JSON of the account of a signature; null without an account. */
  readonly toUser: (signature: Signature) => unknown;
}

/** Converts a commit to JSON. */
export function commitJson(
  commit: Commit,
  { base, full }: RepositoryAddress,
  { changes, stat, files, toUser }: CommitOptions,
) {
  const api = `${base}/api/v1/repos/${full}`;
  const created = gitTime(commit.committer.date);
  const additions = (changes ?? []).reduce((sum, change) => sum + change.additions, 0);
  const deletions = (changes ?? []).reduce((sum, change) => sum + change.deletions, 0);
  return {
    url: `${api}/git/commits/${commit.id}`,
    sha: commit.id,
    created,
    html_url: `${base}/${full}/commit/${commit.id}`,
    commit: {
      url: `${api}/git/commits/${commit.id}`,
      author: signatureJson(commit.author),
      committer: signatureJson(commit.committer),
      message: commit.message,
      tree: { url: `${api}/git/trees/${commit.tree}`, sha: commit.tree, created },
      verification: unverified,
    },
    author: toUser(commit.author),
    committer: toUser(commit.committer),
    parents: commit.parents.map((id) => ({ url: `${api}/git/commits/${id}`, sha: id, created: zeroTime })),
    files: files ? (changes ?? []).map(({ path, status }) => ({ filename: path, status })) : null,
    stats: stat ? { total: additions + deletions, additions, deletions } : null,
  };
}

function signatureJson({ name, email, date }: Signature) {
  return { name, email, date: gitTime(date) };
}

/** Converts a commit to the form in branches and webhooks. */
export function payloadCommit(commit: Commit, { base, full }: RepositoryAddress, username: (email: string) => string) {
  const toSignatureJson = ({ name, email }: Signature) => ({ name, email, username: username(email) });
  return {
    id: commit.id,
    message: commit.message,
    url: `${base}/${full}/commit/${commit.id}`,
    author: toSignatureJson(commit.author),
    committer: toSignatureJson(commit.committer),
    verification: unverified,
    timestamp: gitTime(commit.committer.date),
    added: null,
    removed: null,
    modified: null,
  };
}

export interface BranchView {
  /** Rule that protects the branch; undefined for none. */
  readonly rule: string | undefined;
  readonly mayPush: boolean;
}

export function branchJson(name: string, commit: ReturnType<typeof payloadCommit>, view: BranchView) {
  return {
    name,
    commit,
    protected: view.rule !== undefined,
    required_approvals: 0,
    enable_status_check: false,
    status_check_contexts: [],
    user_can_push: view.mayPush,
    user_can_merge: view.mayPush,
    effective_branch_protection_name: view.rule ?? '',
  };
}

export function tagJson(
  tag: Reference & { readonly message: string; readonly created: string },
  { base, full }: RepositoryAddress,
) {
  const name = tag.ref.replace('refs/tags/', '');
  return {
    name,
    message: tag.message,
    id: tag.id,
    commit: {
      url: `${base}/api/v1/repos/${full}/git/commits/${tag.id}`,
      sha: tag.commit,
      created: gitTime(tag.created),
    },
    zipball_url: `${base}/${full}/archive/${name}.zip`,
    tarball_url: `${base}/${full}/archive/${name}.tar.gz`,
  };
}

export function referenceJson({ ref, id, type }: Reference, { base, full }: RepositoryAddress) {
  const api = `${base}/api/v1/repos/${full}`;
  return { ref, url: `${api}/git/${ref}`, object: { type, sha: id, url: `${api}/git/${type}s/${id}` } };
}
