const maxLength = 120;

/** Returns the similarity of two texts from 0 to 1, based on their longest common subsequence. */
export function getSimilarity(first: string, second: string): number {
  const [firstText, secondText] = [first.slice(0, maxLength), second.slice(0, maxLength)];
  if (firstText === secondText) return 1;
  if (firstText === '' || secondText === '') return 0;
  // The algorithm only requires the former row of the table.
  let formerRow = new Uint16Array(secondText.length + 1);
  for (const letter of firstText) {
    const row = new Uint16Array(secondText.length + 1);
    for (let index = 1; index <= secondText.length; index += 1)
      row[index] =
        secondText[index - 1] === letter
          ? (formerRow[index - 1] ?? 0) + 1
          : Math.max(formerRow[index] ?? 0, row[index - 1] ?? 0);
    formerRow = row;
  }
  return (2 * (formerRow[secondText.length] ?? 0)) / (firstText.length + secondText.length);
}
