// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// What local chains and tests use as tokens. Nothing here is meant for a chain with real money.

contract Ledger {
    string public name;
    string public symbol;
    uint8 public immutable decimals;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(string memory name_, string memory symbol_, uint8 decimals_) {
        name = name_;
        symbol = symbol_;
        decimals = decimals_;
    }

    /// Anybody may mint: it is a toy.
    function mint(address to, uint256 value) external {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function move(address from, address to, uint256 value) internal {
        require(to != address(0), "to the zero address");
        require(balanceOf[from] >= value, "balance too low");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }

    function spend(address owner, uint256 value) internal {
        require(allowance[owner][msg.sender] >= value, "allowance too low");
        allowance[owner][msg.sender] -= value;
    }
}

/// An ERC-20 by the book.
contract TestToken is Ledger {
    constructor(string memory name_, string memory symbol_, uint8 decimals_) Ledger(name_, symbol_, decimals_) {}

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        spend(from, value);
        move(from, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }
}

/// Returns nothing from transfer, transferFrom and approve, as the real USDT on Ethereum does.
contract SilentToken is Ledger {
    constructor(string memory name_, string memory symbol_, uint8 decimals_) Ledger(name_, symbol_, decimals_) {}

    function transfer(address to, uint256 value) external {
        move(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external {
        spend(from, value);
        move(from, to, value);
    }

    function approve(address spender, uint256 value) external {
        require(value == 0 || allowance[msg.sender][spender] == 0, "set it to zero first");
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
    }
}

/// A SilentToken whose issuer can freeze addresses, as those of USDT and USDC can: who is frozen moves nothing, and with `both` gets nothing either.
contract FreezableToken is Ledger {
    mapping(address => bool) public frozen;
    bool public both;

    constructor(string memory name_, string memory symbol_, uint8 decimals_) Ledger(name_, symbol_, decimals_) {}

    /// Anybody may play the issuer.
    function setFrozen(address account, bool frozen_) external {
        frozen[account] = frozen_;
    }

    function setBoth(bool both_) external {
        both = both_;
    }

    function transfer(address to, uint256 value) external {
        require(!frozen[msg.sender] && !(both && frozen[to]), "frozen");
        move(msg.sender, to, value);
    }
}

/// Pays through a contract: the payer's transaction names neither the token nor the recipient.
contract Router {
    /// Forwards tokens this contract holds.
    function forward(address token, address to, uint256 value) public {
        (bool ok, ) = token.call(abi.encodeWithSignature("transfer(address,uint256)", to, value));
        require(ok, "transfer failed");
    }

    /// Two transfers of one token to one recipient in one transaction.
    function forwardTwice(address token, address to, uint256 first, uint256 second) external {
        forward(token, to, first);
        forward(token, to, second);
    }

    /// Native coin by an internal call.
    function forwardNative(address payable to) external payable {
        (bool ok, ) = to.call{value: msg.value}("");
        require(ok, "call failed");
    }

    /// Takes part in the transfer and then fails, so that nothing of it counts.
    function forwardAndFail(address token, address to, uint256 value) external {
        forward(token, to, value);
        revert("on purpose");
    }
}

/// Emits the Transfer event of a collectible: the same signature, the number indexed as a fourth topic.
contract Collectible {
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);

    function transfer(address to, uint256 tokenId) external returns (bool) {
        emit Transfer(msg.sender, to, tokenId);
        return true;
    }
}
