import type { Git } from '../engine/git.ts';

const maxBytes = 256 * 1024;

/** The addresses of the submodules of a commit by their paths, as its `.gitmodules` has them. */
export async function readSubmodules(
  git: Git,
  folder: string,
  commit: string,
  repository: string,
): Promise<ReadonlyMap<string, string>> {
  const args = ['config', '--blob', `${commit}:.gitmodules`, '-z', '--list'];
  // Without such a file, or with a broken one, there are none.
  const { stdout } = await git.run(folder, args, { codes: [1, 3, 128], maxBytes, modest: true });
  const sections = new Map<string, { path?: string; url?: string }>();
  for (const line of stdout.toString().split('\0')) {
    const [key = '', value = ''] = line.split('\n', 2);
    const [, name = '', field] = /^submodule\.(.+)\.(path|url)$/s.exec(key) ?? [];
    if (field === undefined) continue;
    sections.set(name, { ...sections.get(name), [field]: value });
  }
  return new Map(
    [...sections.values()].flatMap(({ path, url }) =>
      path === undefined || url === undefined ? [] : [[path, absolute(url, repository)] as const],
    ),
  );
}

/** A relative address is one from that of the repository. */
function absolute(url: string, repository: string): string {
  return /^\.\.?\//.test(url) ? new URL(url, `${repository}/`).href : url;
}
