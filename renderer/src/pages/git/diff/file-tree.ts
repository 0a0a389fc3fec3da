import type { GitFileDiff } from '../../../../../services/contracts/git/api.ts';

/** Folder of changed files; a folder with a single subfolder is joined with it. */
export interface FileTreeFolder {
  readonly name: string;
  readonly path: string;
  readonly folders: readonly FileTreeFolder[];
  readonly files: readonly { readonly name: string; readonly file: GitFileDiff }[];
}

/** Builds the folder tree of changed files. */
export function buildFileTree(files: readonly GitFileDiff[], prefix = ''): FileTreeFolder {
  const own: { name: string; file: GitFileDiff }[] = [];
  const groups = new Map<string, GitFileDiff[]>();
  for (const file of files) {
    const rest = file.path.slice(prefix.length);
    const slash = rest.indexOf('/');
    if (slash < 0) own.push({ name: rest, file });
    else groups.set(rest.slice(0, slash), [...(groups.get(rest.slice(0, slash)) ?? []), file]);
  }
  const folders = [...groups].map(([name, members]) => {
    const folder = buildFileTree(members, `${prefix}${name}/`);
    const [only] = folder.folders;
    if (only !== undefined && folder.folders.length === 1 && folder.files.length === 0)
      return { ...only, name: `${name}/${only.name}` };
    return { ...folder, name };
  });
  return { name: '', path: prefix, folders, files: own };
}
