import type { Readable } from 'node:stream';
import type { Context } from '../../contracts/service.ts';
import type { AttachmentFolder, NewFile, StoredFile } from './folder.ts';
import { maxNameLength } from './file-name.ts';
import { storeSources, type AttachmentLimits, type AttachmentSource } from './sources.ts';

/** Attachments of one call. The disposal removes files that were not released. */
export interface Intake extends AsyncDisposable {
  /** Stored files in order. */
  readonly files: readonly StoredFile[];
  /** Stores a file of a form; resolves with false if it is refused. */
  readonly addStream: (stream: Readable, file: NewFile) => Promise<boolean>;
  /** Stores the files that a call names; resolves with false if one is refused. */
  readonly addSources: (sources: readonly AttachmentSource[]) => Promise<boolean>;
  /** Leaves the files to the caller. */
  readonly release: () => void;
}

/** Opens the intake of a call's files, with the limits of the settings. */
export function openIntake(
  context: Pick<Context, 'fetch' | 'log'>,
  folder: AttachmentFolder,
  limits: AttachmentLimits,
): Intake {
  const { attachmentBytes, maxAttachments } = limits;
  const filesByIndex = new Map<number, StoredFile>();
  let storedFiles: StoredFile[] = [];
  let isReleased = false;
  const isWithinLimit = (count: number): boolean => maxAttachments === 0 || count <= maxAttachments;
  return {
    get files() {
      return storedFiles;
    },
    async addStream(stream, file) {
      if (!isWithinLimit(file.index + 1) || file.name.length > maxNameLength) {
        for await (const _chunk of stream);
        return false;
      }
      const storedFile = await folder.write(stream, file, attachmentBytes);
      if (storedFile === undefined) return false;
      filesByIndex.set(file.index, storedFile);
      storedFiles = [...filesByIndex].sort(([a], [b]) => a - b).map(([, each]) => each);
      return true;
    },
    async addSources(sources) {
      if (!isWithinLimit(storedFiles.length + sources.length)) return false;
      const addedFiles = await storeSources(context, folder, sources, limits);
      if (addedFiles === undefined) return false;
      storedFiles = [...storedFiles, ...addedFiles];
      return true;
    },
    release: () => void (isReleased = true),
    async [Symbol.asyncDispose]() {
      if (!isReleased) await folder.remove(storedFiles.map(({ file }) => file));
    },
  };
}
