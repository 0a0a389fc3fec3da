export interface Listed {
  readonly path: string;
  readonly size: number;
  /** Milliseconds since 1970; null if the location stores no times. */
  readonly modifiedAt: number | null;
  readonly isFolder: boolean;
}

/** Content of a location with the precision of its names and times. */
export interface Listing {
  readonly entries: readonly Listed[];
  readonly ignoresCase: boolean;
  /** Times that differ by less count as equal, in milliseconds; null if the location stores no times. */
  readonly precisionMs: number | null;
}

export interface PlannedFile {
  readonly path: string;
  readonly size: number;
  readonly modifiedAt: number | null;
}

/** Changes that a run would make. */
export interface Plan {
  readonly creates: readonly PlannedFile[];
  readonly updates: readonly PlannedFile[];
  /** Files that may be deleted; a run deletes no others. */
  readonly deletes: readonly PlannedFile[];
  /** Folders that may be deleted, innermost first. */
  readonly deleteFolders: readonly string[];
  /** Number of deletes that are only partial files of an interrupted copy. */
  readonly scraps: number;
  readonly sourceFiles: number;
  readonly destinationFiles: number;
}

/**
 * Compares two listings by size and time like the engine. A file whose name equals another one for the engine (Unicode
 * normalization, letter case) is never planned for deletion.
 */
export function planOf(source: Listing, destination: Listing, mode: 'sync' | 'copy'): Plan {
  const name = nameOf(source.ignoresCase || destination.ignoresCase);
  const there = new Map(destination.entries.map((entry) => [kindKey(entry, name), entry]));
  const wanted = new Set(source.entries.map((entry) => kindKey(entry, name)));
  const anyWanted = new Set(source.entries.map(({ path }) => name(path)));
  const window =
    source.precisionMs === null || destination.precisionMs === null
      ? null
      : Math.max(1, source.precisionMs, destination.precisionMs);
  const files = source.entries.filter(({ isFolder }) => !isFolder);
  const creates: PlannedFile[] = [];
  const updates: PlannedFile[] = [];
  for (const file of files) {
    const found = there.get(kindKey(file, name));
    if (found === undefined) creates.push(planned(file));
    else if (differs(file, found, window)) updates.push(planned(file));
  }
  const extra =
    mode === 'copy'
      ? []
      : destination.entries.filter((entry) => !wanted.has(kindKey(entry, name)) && !anyWanted.has(name(entry.path)));
  const deletes = extra.filter(({ isFolder }) => !isFolder).map(planned);
  return {
    creates,
    updates,
    deletes,
    scraps: deletes.filter(({ path }) => anyWanted.has(name(scrap.exec(path)?.[1] ?? ''))).length,
    deleteFolders: extra
      .filter(({ isFolder }) => isFolder)
      .map(({ path }) => path)
      .toSorted((a, b) => depth(b) - depth(a) || (a < b ? -1 : 1)),
    sourceFiles: files.length,
    destinationFiles: destination.entries.filter(({ isFolder }) => !isFolder).length,
  };
}

/**
 * Returns the deletes of a plan that are still valid: the file is unchanged since the preview, and the source still does not
 * have it. A run deletes no other files.
 */
export function boundDeletes(
  shown: Pick<Plan, 'deletes' | 'deleteFolders'>,
  source: Listing,
  destination: Listing,
): Pick<Plan, 'deletes' | 'deleteFolders'> {
  const now = planOf(source, destination, 'sync');
  const files = new Map(now.deletes.map((file) => [file.path, file]));
  const folders = new Set(now.deleteFolders);
  return {
    deletes: shown.deletes.filter((file) => {
      const found = files.get(file.path);
      return found !== undefined && found.size === file.size && found.modifiedAt === file.modifiedAt;
    }),
    deleteFolders: shown.deleteFolders.filter((path) => folders.has(path)),
  };
}

/** Name of a file that the engine is still writing. */
const scrap = /^(.+)\.[A-Za-z0-9]{8}\.partial$/s;

function planned({ path, size, modifiedAt }: Listed): PlannedFile {
  return { path, size, modifiedAt };
}

function differs(file: Listed, found: Listed, window: number | null): boolean {
  if (file.size !== found.size) return true;
  if (window === null || file.modifiedAt === null || found.modifiedAt === null) return false;
  return Math.abs(file.modifiedAt - found.modifiedAt) >= window;
}

function nameOf(ignoresCase: boolean): (path: string) => string {
  return (path) => (ignoresCase ? path.normalize('NFC').toLowerCase() : path.normalize('NFC'));
}

function kindKey({ path, isFolder }: Listed, name: (path: string) => string): string {
  return `${isFolder ? 'd' : 'f'}${name(path)}`;
}

function depth(path: string): number {
  return path.split('/').length;
}
