import type { Folders } from './folders.ts';
import type { Thumbnails } from './thumbnails.ts';

/** Files of downloads: their folders and their pictures. */
export interface DownloadFiles {
  readonly folders: Folders;
  readonly thumbnails: Thumbnails;
}
