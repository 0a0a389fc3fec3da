/** File of a selection or a drop, with the path of its folder in the dropped folder; empty for a single file. */
export interface DroppedFile {
  readonly file: File;
  readonly folder: string;
}

/** Returns the files of a drop, including those in folders. Call it before the event ends. */
export function readDroppedFiles(data: DataTransfer): Promise<readonly DroppedFile[]> {
  // The entries are only available during the event.
  const entries = [...data.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  return Promise.all(entries.map((entry) => readEntry(entry, ''))).then((lists) => lists.flat());
}

async function readEntry(entry: FileSystemEntry, folder: string): Promise<readonly DroppedFile[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ file, folder }];
  }
  const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
  const files: DroppedFile[] = [];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // A reader returns at most 100 entries at a time.
  for (;;) {
    const batch = await new Promise<readonly FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (batch.length === 0) return files;
    for (const child of batch) files.push(...(await readEntry(child, path)));
  }
}
