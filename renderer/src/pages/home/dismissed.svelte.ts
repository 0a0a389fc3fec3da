import { writeLocalStorage, readLocalStorage } from '../../state/local-storage.ts';

const place = 'homeport.next-steps';

/** What this browser's person does not want to see again on Home. */
class Dismissed {
  nextSteps = $state(readLocalStorage(place) === 'dismissed');

  dismissNextSteps(): void {
    this.nextSteps = true;
    writeLocalStorage(place, 'dismissed');
  }
}

export const dismissed = new Dismissed();
