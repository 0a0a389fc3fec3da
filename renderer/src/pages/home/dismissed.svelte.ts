import { keep, readKept } from '../../state/local-storage.ts';

const place = 'homeport.next-steps';

/** What this browser's person does not want to see again on Home. */
class Dismissed {
  nextSteps = $state(readKept(place) === 'dismissed');

  dismissNextSteps(): void {
    this.nextSteps = true;
    keep(place, 'dismissed');
  }
}

export const dismissed = new Dismissed();
