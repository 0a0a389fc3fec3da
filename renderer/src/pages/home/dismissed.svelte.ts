const place = 'homeport.next-steps';

/** What this browser's person does not want to see again on Home. */
class Dismissed {
  nextSteps = $state(localStorage.getItem(place) === 'dismissed');

  dismissNextSteps(): void {
    this.nextSteps = true;
    localStorage.setItem(place, 'dismissed');
  }
}

export const dismissed = new Dismissed();
