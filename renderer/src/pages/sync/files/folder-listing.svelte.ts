import { fileRoutes, type SyncEntry } from '../../../../../services/contracts/sync/files.ts';
import { call, formatError } from '../../../api/call.ts';
import { ListSelection } from '../../../state/selection.svelte.ts';

/** Content of a folder with its selected entries. */
export class FolderListing {
  location = $state('');
  entries = $state.raw<readonly SyncEntry[]>();
  canWrite = $state(false);
  /** Deletions in the folder can be undone. */
  hasTrash = $state(false);
  errorMessage = $state('');
  readonly selection = new ListSelection<string>();
  readonly selected = $derived((this.entries ?? []).filter(({ path }) => this.selection.has(path)));

  /** Shows another folder; the list is empty until it has been read. */
  async open(location: string): Promise<void> {
    this.location = location;
    this.entries = undefined;
    this.canWrite = false;
    this.hasTrash = false;
    this.selection.clear();
    await this.reload();
  }

  /** Reads the folder again, with its selection as far as it still exists. */
  async reload(): Promise<void> {
    const { location } = this;
    this.errorMessage = '';
    if (location === '') return;
    try {
      const { entries, canWrite, hasTrash } = await call(fileRoutes.browse, { query: { at: location } });
      if (location !== this.location) return;
      this.entries = entries;
      this.canWrite = canWrite;
      this.hasTrash = hasTrash;
      const remaining = entries.filter(({ path }) => this.selection.has(path)).map(({ path }) => path);
      this.selection.clear();
      this.selection.all(remaining);
    } catch (error) {
      if (location === this.location) this.errorMessage = formatError(error);
    }
  }
}
