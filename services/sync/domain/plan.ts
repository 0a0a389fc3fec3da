export interface ListedEntry {
  readonly path: string;
  readonly size: number;
  /** Milliseconds since 1970; null if the location stores no times. */
  readonly modifiedAt: number | null;
  readonly isFolder: boolean;
}

/** Content of a location with the precision of its names and times. */
export interface Listing {
  readonly entries: readonly ListedEntry[];
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
export function buildPlan(source: Listing, destination: Listing, mode: 'sync' | 'copy'): Plan {
  const normalize = buildNormalizer(source.ignoresCase || destination.ignoresCase);
  const destinationEntries = new Map(destination.entries.map((entry) => [toKey(entry, normalize), entry]));
  const sourceKeys = new Set(source.entries.map((entry) => toKey(entry, normalize)));
  const sourceNames = new Set(source.entries.map(({ path }) => normalize(path)));
  const precisionMs =
    source.precisionMs === null || destination.precisionMs === null
      ? null
      : Math.max(1, source.precisionMs, destination.precisionMs);
  const files = source.entries.filter(({ isFolder }) => !isFolder);
  const creates: PlannedFile[] = [];
  const updates: PlannedFile[] = [];
  for (const file of files) {
    const existing = destinationEntries.get(toKey(file, normalize));
    if (existing === undefined) creates.push(toPlannedFile(file));
    else if (differs(file, existing, precisionMs)) updates.push(toPlannedFile(file));
  }
  const extraneous =
    mode === 'copy'
      ? []
      : destination.entries.filter(
          (entry) => !sourceKeys.has(toKey(entry, normalize)) && !sourceNames.has(normalize(entry.path)),
        );
  const deletes = extraneous.filter(({ isFolder }) => !isFolder).map(toPlannedFile);
  return {
    creates,
    updates,
    deletes,
    scraps: deletes.filter(({ path }) => sourceNames.has(normalize(partialFileName.exec(path)?.[1] ?? ''))).length,
    deleteFolders: extraneous
      .filter(({ isFolder }) => isFolder)
      .map(({ path }) => path)
      .toSorted((a, b) => getDepth(b) - getDepth(a) || (a < b ? -1 : 1)),
    sourceFiles: files.length,
    destinationFiles: destination.entries.filter(({ isFolder }) => !isFolder).length,
  };
}

/**
 * Returns the deletes of a plan that are still valid: the file is unchanged since the preview, and the source still does not
 * have it. A run deletes no other files.
 */
export function findConfirmedDeletes(
  preview: Pick<Plan, 'deletes' | 'deleteFolders'>,
  source: Listing,
  destination: Listing,
): Pick<Plan, 'deletes' | 'deleteFolders'> {
  const currentPlan = buildPlan(source, destination, 'sync');
  const files = new Map(currentPlan.deletes.map((file) => [file.path, file]));
  const folders = new Set(currentPlan.deleteFolders);
  return {
    deletes: preview.deletes.filter((file) => {
      const existing = files.get(file.path);
      return existing !== undefined && existing.size === file.size && existing.modifiedAt === file.modifiedAt;
    }),
    deleteFolders: preview.deleteFolders.filter((path) => folders.has(path)),
  };
}

/** Name of a file that the engine is still writing. */
const partialFileName = /^(.+)\.[A-Za-z0-9]{8}\.partial$/s;

function toPlannedFile({ path, size, modifiedAt }: ListedEntry): PlannedFile {
  return { path, size, modifiedAt };
}

function differs(file: ListedEntry, existing: ListedEntry, precisionMs: number | null): boolean {
  if (file.size !== existing.size) return true;
  if (precisionMs === null || file.modifiedAt === null || existing.modifiedAt === null) return false;
  return Math.abs(file.modifiedAt - existing.modifiedAt) >= precisionMs;
}

function buildNormalizer(ignoresCase: boolean): (path: string) => string {
  return (path) => (ignoresCase ? path.normalize('NFC').toLowerCase() : path.normalize('NFC'));
}

function toKey({ path, isFolder }: ListedEntry, normalize: (path: string) => string): string {
  return `${isFolder ? 'd' : 'f'}${normalize(path)}`;
}

function getDepth(path: string): number {
  return path.split('/').length;
}
