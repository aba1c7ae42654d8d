/** The network whose new tip is applied to the books. */
export interface AppliedNetwork {
  /** Id of its row in `networks`. */
  networkId: string;
  networkName: string;
}
