/** The environment variable with the key for Jest's workers. */
export const privateKeyVariable = "TRUNKLINE_TEST_PRIVATE_KEY";

/** The private key of the App in every test forge of a run: to generate one takes 150 ms. */
export function testPrivateKey(): string {
  const key = process.env[privateKeyVariable];
  if (key === undefined) throw new Error("Start the tests with `npm test`: its setup generates their key.");
  return key;
}
