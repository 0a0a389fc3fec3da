import { writeLocalStorage, readLocalStorage } from '../../state/local-storage.ts';

const storageKey = 'homeport.next-steps';

/** Sections of Home that were dismissed in this browser. */
class DismissedSections {
  nextSteps = $state(readLocalStorage(storageKey) === 'dismissed');

  dismissNextSteps(): void {
    this.nextSteps = true;
    writeLocalStorage(storageKey, 'dismissed');
  }
}

export const dismissed = new DismissedSections();
