const place = 'homeport.push.pictures';

/** Topics whose pictures from other servers this browser loads, because its person said so. */
class DistantPictures {
  topics = $state.raw<readonly string[]>(read());

  shown(topic: string): boolean {
    return this.topics.includes(topic);
  }

  show(topic: string): void {
    this.topics = [...new Set([...this.topics, topic])];
    localStorage.setItem(place, JSON.stringify(this.topics));
  }
}

function read(): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(place) ?? '[]');
    return Array.isArray(stored) ? stored.filter((topic) => typeof topic === 'string') : [];
  } catch {
    // Something else wrote there, or the browser keeps nothing: then nothing was allowed.
    return [];
  }
}

export const distantPictures = new DistantPictures();
