import type { Git } from '../engine/git.ts';

const maxBytes = 256 * 1024;

/** Reads the addresses of a commit's submodules by path from its `.gitmodules`. */
export async function readSubmodules(
  git: Git,
  folder: string,
  commit: string,
  repository: string,
): Promise<ReadonlyMap<string, string>> {
  const args = ['config', '--blob', `${commit}:.gitmodules`, '-z', '--list'];
  // A missing or invalid file means that there are no submodules.
  const { stdout } = await git.run(folder, args, { allowedExitCodes: [1, 3, 128], maxBytes, limitedMemory: true });
  const sections = new Map<string, { path?: string; url?: string }>();
  for (const line of stdout.toString().split('\0')) {
    const [key = '', value = ''] = line.split('\n', 2);
    const [, name = '', field] = /^submodule\.(.+)\.(path|url)$/s.exec(key) ?? [];
    if (field === undefined) continue;
    sections.set(name, { ...sections.get(name), [field]: value });
  }
  return new Map(
    [...sections.values()].flatMap(({ path, url }) =>
      path === undefined || url === undefined ? [] : [[path, resolveUrl(url, repository)] as const],
    ),
  );
}

/** Resolves a relative address against the address of the repository. */
function resolveUrl(url: string, repository: string): string {
  return /^\.\.?\//.test(url) ? new URL(url, `${repository}/`).href : url;
}
